#include "clients/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "clients/cli/quantity.h"
#include "clients/cli/wall_clock.h"
#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kCreatedUs = 1'700'000'000'000'000;  // 2023-11-14 22:13:20 UTC

pb::Experiment MakeExperiment(int64_t id, const std::string& name) {
  pb::Experiment experiment;
  experiment.set_id(id);
  experiment.set_name(name);
  experiment.set_state(pb::EXPERIMENT_STATE_COMPLETED);
  experiment.set_reason("trials_exhausted");
  experiment.set_metric("accuracy");
  experiment.set_goal(pb::GOAL_MAXIMIZE);
  experiment.set_best_by(pb::BEST_BY_BEST);
  experiment.set_planned_trials(3);
  experiment.set_max_step(30);
  experiment.set_created_us(kCreatedUs);
  experiment.set_ended_us(kCreatedUs + 250'000'000);
  experiment.mutable_trials()->set_completed(1);
  experiment.mutable_trials()->set_stopped(2);
  experiment.set_steps_spent(1050);
  experiment.set_cpu_seconds(360);
  return experiment;
}

pb::Trial MakeTrial(int64_t experiment, int32_t number, double best) {
  pb::Trial trial;
  trial.set_experiment_id(experiment);
  trial.set_trial_number(number);
  trial.set_state(number == 1 ? pb::TRIAL_STATE_COMPLETED : pb::TRIAL_STATE_STOPPED);
  if (number != 1) trial.set_reason("below_cutoff");
  trial.set_params_json(R"({"lr":3.2123456789e-05,"batch_size":32})");
  trial.set_best_value(best);
  trial.set_best_step(10);
  trial.set_last_step(10);
  trial.set_last_value(best);
  trial.set_created_us(kCreatedUs);
  return trial;
}

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    tuner_.experiments = {MakeExperiment(12, "asha"), MakeExperiment(11, "twice"),
                          MakeExperiment(10, "twice")};
    tuner_.trials = {MakeTrial(12, 0, 0.81), MakeTrial(12, 1, 0.853123456789),
                     MakeTrial(12, 2, 0.7)};
    *tuner_.experiments[0].mutable_best() = tuner_.trials[1];
    server_ =
        std::make_unique<FakeServer>(tuner_, "unix:" + (home_.folder() / "rung.sock").string());
  }

  std::string WriteDocument(const std::string& text) const {
    const std::string file = home_.folder() / "experiment.json";
    std::ofstream(file) << text;
    return file;
  }
  pb::WatchExperimentResponse Update(pb::ExperimentState state, const std::string& reason) {
    pb::WatchExperimentResponse update;
    *update.mutable_experiment() = tuner_.experiments[0];
    update.mutable_experiment()->set_state(state);
    update.mutable_experiment()->set_reason(reason);
    return update;
  }

  TemporaryHome home_;
  FakeTuner tuner_;
  std::unique_ptr<FakeServer> server_;
};

TEST_F(ProgramTest, SubmitSendsTheTextAndTheFilesFolderAndPrintsTheId) {
  const CommandResult result = RunCommand({"submit", WriteDocument("{\"a\": 1}\n")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "12\n");
  EXPECT_EQ(tuner_.created.document(), "{\"a\": 1}\n");
  EXPECT_EQ(tuner_.created.working_dir(), home_.folder().string());
  EXPECT_EQ(RunCommand({"submit", WriteDocument("{}"), "--json"}).out, "{\"experiment_id\":12}\n");
}

TEST_F(ProgramTest, SubmitPrintsWarningsAndGoesOn) {
  tuner_.validation.add_warnings("no rung can fill");
  const CommandResult result = RunCommand({"submit", WriteDocument("{}")});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "12\n");
  EXPECT_THAT(result.err, HasSubstr("warning: no rung can fill\n"));
}

TEST_F(ProgramTest, SubmitRepeatsALostCallWithTheSameRequestId) {
  tuner_.unavailable_calls = 2;
  const CommandResult result = RunCommand({"submit", WriteDocument("{}")});
  EXPECT_EQ(result.status, 0) << result.err;
  ASSERT_EQ(tuner_.request_ids.size(), 3U);
  EXPECT_EQ(tuner_.request_ids[0], tuner_.request_ids[2]);
  EXPECT_FALSE(tuner_.request_ids[0].empty());
}

TEST_F(ProgramTest, SubmitPrintsARefusalAndFails) {
  const CommandResult result = RunCommand({"submit", WriteDocument("{\"low\": 1}")});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "rung: space.lr.uniform[0]: must be below 0, found 1\n");
  EXPECT_THAT(RunCommand({"submit", "/no/such/file"}).err,
              HasSubstr("cannot read /no/such/file: No such file or directory"));
  EXPECT_THAT(RunCommand({"submit", home_.folder()}).err, HasSubstr("is a folder"));
}

TEST_F(ProgramTest, SubmitWatchFailsWhenNothingWorks) {
  tuner_.updates = {Update(pb::EXPERIMENT_STATE_ACTIVE, ""),
                    Update(pb::EXPERIMENT_STATE_PAUSED, "nothing_works")};
  tuner_.updates[1].set_last_stderr("ModuleNotFoundError: torch\n");
  const CommandResult result = RunCommand({"submit", WriteDocument("{}"), "--watch"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "12\n");
  EXPECT_THAT(result.err, HasSubstr("experiment 12 is paused (nothing_works)"));
  EXPECT_THAT(result.err, HasSubstr("\nModuleNotFoundError: torch\n"));
}

TEST_F(ProgramTest, WatchPrintsALineAStateAndEndsWithTheExperiment) {
  tuner_.updates = {Update(pb::EXPERIMENT_STATE_ACTIVE, ""),
                    Update(pb::EXPERIMENT_STATE_COMPLETED, "trials_exhausted")};
  const CommandResult result = RunCommand({"watch", "asha"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("asha (12): active, 3/3 trials done, "));
  EXPECT_THAT(result.out, HasSubstr("\nasha (12): completed (trials_exhausted), 3/3 trials done"));
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);  // no terminal, no escapes
}

TEST_F(ProgramTest, AMetricThatNoTrialReportsIsToldWithThoseThatAre) {
  tuner_.experiments[0].clear_best();
  for (const std::string name : {"accuracy_score", "loss"}) {
    pb::Metric& metric = tuner_.metrics.emplace_back();
    metric.set_name(name);
    metric.set_step(1);
    metric.set_value(0.5);
  }
  tuner_.updates = {Update(pb::EXPERIMENT_STATE_COMPLETED, "trials_exhausted")};
  const CommandResult result = RunCommand({"watch", "12"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr(", no accuracy reported\n"));
  EXPECT_EQ(result.err,
            "rung: no trial of experiment 12 has a value of its metric 'accuracy'; trial 12.0 "
            "reported accuracy_score, loss\n");
  EXPECT_EQ(RunCommand({"best", "12"}).err,
            "rung: experiment 12 has no best yet: no trial has a value of its objective, accuracy; "
            "trial 12.0 reported accuracy_score, loss\n");
}

TEST_F(ProgramTest, AnExperimentThatEndedWithoutAnyReportHasNoResult) {
  tuner_.experiments[0].clear_best();
  tuner_.trials.clear();
  tuner_.updates = {Update(pb::EXPERIMENT_STATE_COMPLETED, "trials_exhausted")};
  const CommandResult result = RunCommand({"submit", WriteDocument("{}"), "--watch"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("rung: no trial of experiment 12 has a value of its metric "
                                    "'accuracy'\n"));
}

TEST_F(ProgramTest, WatchComesBackToARestartedService) {
  tuner_.updates = {Update(pb::EXPERIMENT_STATE_ACTIVE, ""),
                    Update(pb::EXPERIMENT_STATE_COMPLETED, "trials_exhausted")};
  tuner_.watches_cut = 1;
  const CommandResult result = RunCommand({"watch", "12"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "rung: the service is gone; looking for it for 60 s\n");
  EXPECT_THAT(result.out, HasSubstr("completed (trials_exhausted)"));
}

TEST_F(ProgramTest, WatchJsonIsADocumentALine) {
  tuner_.updates = {Update(pb::EXPERIMENT_STATE_ACTIVE, ""),
                    Update(pb::EXPERIMENT_STATE_FAILED, "no_trial_completed")};
  const CommandResult result = RunCommand({"watch", "12", "--json"});
  EXPECT_EQ(result.status, 1);
  std::istringstream lines(result.out);
  std::vector<std::string> states;
  for (std::string line; std::getline(lines, line);) {
    states.push_back(json::parse(line)["experiment"]["state"]);
  }
  EXPECT_EQ(states, (std::vector<std::string>{"active", "failed"}));
}

TEST_F(ProgramTest, ListShowsAllPages) {
  const CommandResult result = RunCommand({"list"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out,
            "ID  NAME   STATE                         TRIALS  BEST                    TIME        "
            "CREATED\n"
            "12  asha   completed (trials_exhausted)  3/3     accuracy 0.8531 (best)  4 min 10 s  "
            "2023-11-14 22:13:20\n"
            "11  twice  completed (trials_exhausted)  3/3     -                       4 min 10 s  "
            "2023-11-14 22:13:20\n"
            "10  twice  completed (trials_exhausted)  3/3     -                       4 min 10 s  "
            "2023-11-14 22:13:20\n");
  EXPECT_EQ(json::parse(RunCommand({"list", "--json"}).out).size(), 3U);
}

TEST_F(ProgramTest, ListOfNothingSaysSo) {
  const CommandResult named = RunCommand({"list", "--name", "absent"});
  EXPECT_EQ(named.status, 0);
  EXPECT_EQ(named.out, "");
  EXPECT_EQ(named.err, "No experiment has the name 'absent'.\n");
  EXPECT_EQ(RunCommand({"list", "--name", "absent", "--json"}).out, "[]\n");
  tuner_.experiments.clear();
  EXPECT_EQ(RunCommand({"list"}).err,
            "There is no experiment yet: `rung submit FILE` makes one.\n");
}

TEST_F(ProgramTest, ShowTellsAllOfAnExperiment) {
  const CommandResult result = RunCommand({"show", "asha"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out,
            "experiment    12  asha\n"
            "state         completed (trials_exhausted)\n"
            "objective     accuracy, maximize\n"
            "created       2023-11-14 22:13:20\n"
            "wall time     4 min 10 s\n"
            "trials        3 of 3: 1 completed, 2 stopped\n"
            "steps spent   1,050\n"
            "used          0.1 CPU slot-hours\n"
            "best          accuracy 0.8531 (best reported) by trial 12.1 at step 10\n"
            "  lr          3.2123456789e-05\n"
            "  batch_size  32\n");
}

TEST_F(ProgramTest, ShowTellsWhatATrialsFailedRankSaid) {
  pb::Attempt& attempt = *tuner_.trials[2].add_attempts();
  attempt.set_state(pb::ATTEMPT_STATE_EXITED);
  attempt.set_exit_cause(pb::EXIT_CAUSE_FAILED);
  attempt.set_exit_code(1);
  attempt.set_workers("w1");
  attempt.set_started_us(kCreatedUs);
  attempt.set_ended_us(kCreatedUs + 3'000'000);
  attempt.set_message("rank 0 exited with status 1");
  pb::LogTail& tail = *attempt.add_log_tails();
  tail.set_text("Traceback\nKeyError: lr\n");
  const CommandResult result = RunCommand({"show", "asha.2"});
  EXPECT_THAT(result.out, HasSubstr("12.2.0   exited  failed, status 1  w1      0          3.0 s  "
                                    "rank 0 exited with status 1\n"));
  EXPECT_THAT(result.out, HasSubstr("last stderr of 12.2.0, rank 0:\nTraceback\nKeyError: lr\n"));
}

TEST_F(ProgramTest, TrialsAreListedInOrderOrBestFirst) {
  EXPECT_EQ(RunCommand({"trials", "12", "--top", "2"}).out,
            "TRIAL  STATE                   STEPS  accuracy (best)  AT STEP  LAST    PARAMETERS\n"
            "12.1   completed                  10  0.8531                10  0.8531  "
            "lr=3.212e-05 batch_size=32\n"
            "12.0   stopped (below_cutoff)     10  0.81                  10  0.81    "
            "lr=3.212e-05 batch_size=32\n");
  const json all = json::parse(RunCommand({"trials", "12", "--json"}).out);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1]["id"], "12.1");
  EXPECT_EQ(all[1]["best_value"], 0.853123456789);  // full precision
  EXPECT_EQ(all[1]["params"]["batch_size"], 32);
  const json stopped =
      json::parse(RunCommand({"trials", "12", "--state", "stopped", "--json"}).out);
  EXPECT_EQ(stopped.size(), 2U);
}

TEST_F(ProgramTest, BestSaysByWhat) {
  EXPECT_EQ(RunCommand({"best", "12"}).out,
            "accuracy 0.8531 (best reported), trial 12.1, step 10\n"
            "{\"lr\":3.2123456789e-05,\"batch_size\":32}\n");
  EXPECT_EQ(json::parse(RunCommand({"best", "12", "--json"}).out)["best_by"], "best");
  const CommandResult none = RunCommand({"best", "11"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("no trial has a value of its objective, accuracy"));
}

TEST_F(ProgramTest, MetricsAreFilteredAndPaged) {
  for (int step = 1; step <= 5; ++step) {
    for (const char* name : {"accuracy", "loss"}) {
      pb::Metric& metric = tuner_.metrics.emplace_back();
      metric.set_trial_number(1);
      metric.set_step(step);
      metric.set_name(name);
      metric.set_value(step == 5 ? std::numeric_limits<double>::quiet_NaN() : 0.1 * step);
      metric.set_time_us(kCreatedUs);
    }
  }
  const json rows = json::parse(RunCommand({"metrics", "12.1", "--name", "loss", "--json"}).out);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[4]["value"], "nan");
  EXPECT_THAT(RunCommand({"metrics", "12.1"}).out,
              HasSubstr("   4  accuracy  0.4          0  2023-11-14 22:13:20\n"));
  EXPECT_EQ(RunCommand({"metrics", "12.1", "--name", "acc"}).err,
            "The trial has reported no acc; it reported accuracy, loss.\n");
  EXPECT_EQ(RunCommand({"metrics", "12.0"}).err, "The trial has reported no value.\n");
  EXPECT_EQ(RunCommand({"metrics", "12.0"}).out, "");
}

TEST_F(ProgramTest, LogsAreCopiedAsTheyAre) {
  tuner_.log = "epoch 1\nepoch \xff 2\n";
  const CommandResult result = RunCommand({"logs", "12.1.3", "--rank", "1", "-f"});
  EXPECT_EQ(result.out, tuner_.log);
  EXPECT_EQ(tuner_.logs_asked.attempt(), 3);
  EXPECT_EQ(tuner_.logs_asked.rank(), 1);
  EXPECT_TRUE(tuner_.logs_asked.follow());
}

TEST_F(ProgramTest, AFollowedLogIsWaitedForUntilTheTrialStarts) {
  tuner_.log = "epoch 1\n";
  tuner_.trials[2].set_state(pb::TRIAL_STATE_QUEUED);
  tuner_.trials[2].set_reason("waits for 2 GPUs");
  tuner_.trials_after = tuner_.trials;
  tuner_.trials_after[2].set_state(pb::TRIAL_STATE_RUNNING);
  tuner_.trials_after[2].add_attempts()->set_state(pb::ATTEMPT_STATE_ASSIGNED);
  tuner_.logs_refused = 2;
  const CommandResult result = RunCommand({"logs", "12.2", "-f"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "epoch 1\n");
  EXPECT_EQ(result.err,
            "rung: trial 12.2 is queued: waits for 2 GPUs; waiting until it starts (Ctrl-C ends "
            "the wait)\n");
  // A trial that the experiment has not come to yet; 12 plans trials 0 to 2 and is over.
  tuner_.experiments[0].set_state(pb::EXPERIMENT_STATE_ACTIVE);
  tuner_.experiments[0].set_planned_trials(4);
  tuner_.logs_refused = 1;
  EXPECT_THAT(RunCommand({"logs", "12.3", "-f"}).err,
              StartsWith("rung: trial 12.3 is not created"));
  tuner_.logs_refused = 2;
  EXPECT_EQ(RunCommand({"logs", "12.4", "-f"}).status, 1);
  // It starts between the refusal and the look at its state: one more try.
  tuner_.trials_after[2].mutable_attempts(0)->set_state(pb::ATTEMPT_STATE_RUNNING);
  tuner_.logs_refused = 1;
  EXPECT_EQ(RunCommand({"logs", "12.2", "-f"}).out, "epoch 1\n");
}

TEST_F(ProgramTest, ALogThatWillNotComeIsNotWaitedFor) {
  tuner_.trials_after = tuner_.trials;
  tuner_.logs_refused = 2;
  const CommandResult final = RunCommand({"logs", "12.2", "-f"});  // stopped, no attempt
  EXPECT_EQ(final.status, 1);
  EXPECT_EQ(final.err, "rung: trial 12.2 has not been started yet\n");
  tuner_.trials[2].set_state(pb::TRIAL_STATE_QUEUED);
  tuner_.trials_after = tuner_.trials;
  tuner_.logs_refused = 1;
  EXPECT_EQ(RunCommand({"logs", "12.2"}).status, 1);  // not followed
}

TEST_F(ProgramTest, WhyListsEachDecision) {
  pb::DecisionRow& row = tuner_.decisions.emplace_back();
  row.set_trial_number(2);
  row.set_level(10);
  row.set_step(10);
  row.set_value(0.7);
  row.set_cutoff(0.81);
  row.set_n_before(2);
  row.set_decision("stop");
  row.set_reason("below_cutoff");
  row.set_time_us(kCreatedUs);
  EXPECT_EQ(RunCommand({"why", "12.2"}).out,
            "trial 12.2 is stopped: its value was worse than the cutoff of a rung (below_cutoff)\n"
            "2023-11-14 22:13:20  stopped at level 10: 0.7 is below the cutoff 0.81 of 2 earlier "
            "values\n");
  const json why = json::parse(RunCommand({"why", "12.2", "--json"}).out);
  EXPECT_EQ(why["decisions"][0]["cutoff"], 0.81);
  EXPECT_TRUE(why["decisions"][0]["rank"].is_null());
}

TEST_F(ProgramTest, WhySaysThatTheObjectiveWasNeverReported) {
  tuner_.trials[1].clear_best_value();
  EXPECT_EQ(RunCommand({"why", "12.1"}).out,
            "trial 12.1 is completed\n"
            "it has no place in the ranking: it reported no finite value of accuracy\n");
}

TEST_F(ProgramTest, WhySaysWhereAFailedTrialLeftItsWords) {
  pb::Trial& trial = tuner_.trials[2];
  trial.set_state(pb::TRIAL_STATE_FAILED);
  trial.set_reason("max_failures");
  pb::Attempt& attempt = *trial.add_attempts();
  attempt.set_attempt(0);
  attempt.set_exit_cause(pb::EXIT_CAUSE_FAILED);
  attempt.set_message("rank 0 exited with status 1");
  attempt.set_ended_us(kCreatedUs);
  EXPECT_EQ(RunCommand({"why", "12.2"}).out,
            "trial 12.2 is failed: more of its attempts failed than trial.max_failures allows "
            "(max_failures)\n"
            "2023-11-14 22:13:20  attempt 0: rank 0 exited with status 1\n"
            "`rung show 12.2` has its last words, `rung logs 12.2.0` all that it wrote\n");
}

TEST_F(ProgramTest, StopTakesAnExperimentOrATrial) {
  EXPECT_EQ(RunCommand({"stop", "asha"}).status, 0);
  EXPECT_EQ(RunCommand({"stop", "12.2"}).status, 0);
  EXPECT_EQ(tuner_.stopped, (std::vector<std::string>{"12", "12.2"}));
}

TEST_F(ProgramTest, ANameThatSeveralHaveListsTheIds) {
  const CommandResult twice = RunCommand({"show", "twice"});
  EXPECT_EQ(twice.status, 1);
  EXPECT_EQ(twice.err,
            "rung: 2 experiments have the name 'twice': give the id of one of them: 11, 10 (newest "
            "first)\n");
  EXPECT_EQ(RunCommand({"show", "absent"}).err,
            "rung: no experiment has the id or the name 'absent': `rung list` shows all "
            "experiments\n");
  EXPECT_EQ(RunCommand({"show", "99"}).err,
            "rung: no experiment 99: `rung list` shows all experiments, `rung trials EXPERIMENT` "
            "their trials\n");
  EXPECT_THAT(RunCommand({"trials", "12.1"}).err, HasSubstr("an experiment is wanted here"));
  EXPECT_THAT(RunCommand({"why", "12"}).err, HasSubstr("a trial is wanted here"));
}

TEST_F(ProgramTest, TheFieldsOfTheJsonAreNamedAsInTheDatabase) {
  const json shown = json::parse(RunCommand({"show", "12", "--json"}).out);
  EXPECT_EQ(shown["cpu_s"], 360);
  EXPECT_EQ(shown["gpu_s"], 0);
}

TEST_F(ProgramTest, ValidatePrintsThePlanAndSamples) {
  tuner_.validation.set_planned_trials(27);
  tuner_.validation.set_plan_json(
      R"({"max_step":100,"planned_trials":27,"brackets":[{"bracket":0,"rungs":[
          {"level":10,"expected_trials":27.0,"expected_steps":270.0},
          {"level":30,"expected_trials":9.0,"expected_steps":180.0}],
          "expected_completed":3.0,"expected_steps":660.0}],
          "expected_steps":660.0,"full_steps":2700})");
  tuner_.validation.add_sample_params_json(R"({"lr":0.1})");
  tuner_.validation.add_sample_params_json(R"({"lr":0.2})");
  tuner_.validation.add_warnings("no rung can fill");
  const CommandResult result = RunCommand({"validate", WriteDocument("{}"), "--samples", "1"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out,
            "valid: 27 trials\n"
            "max_step: 100\n"
            "steps: about 660 expected, 24.4 % of the 2,700 that running every trial to its end "
            "takes\n"
            "\n"
            "bracket 0:\n"
            "  LEVEL  EXPECTED TRIALS  EXPECTED STEPS\n"
            "     10               27             270\n"
            "     30                9             180\n"
            "    end                3             210\n"
            "\n"
            "first configurations:\n"
            "  {\"lr\":0.1}\n");
  EXPECT_EQ(result.err, "warning: no rung can fill\n");
}

TEST_F(ProgramTest, CompareReadsMetricsOfEachExperiment) {
  const CommandResult result =
      RunCommand({"compare", "asha", "11", "--show", "nope:min", "--price", "10", "--json"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "rung: no trial of them reported the metric 'nope'\n");
  const json comparison = json::parse(result.out);
  EXPECT_EQ(comparison["experiments"].size(), 2U);
  EXPECT_EQ(comparison["experiments"][0]["money"], 1.0);  // 360 s = 0.1 h at 10
  EXPECT_EQ(RunCommand({"compare", "12", "--price", "-1"}).status, 2);
}

TEST_F(ProgramTest, WorkersShowWhatIsFree) {
  pb::Worker& worker = tuner_.workers.emplace_back();
  worker.set_name("w1");
  worker.set_state("connected");
  worker.mutable_total()->set_milli_cpus(4000);
  worker.mutable_free()->set_milli_cpus(1500);
  pb::AttemptId& attempt = *worker.add_attempts();
  attempt.set_experiment_id(12);
  attempt.set_trial_number(3);
  EXPECT_THAT(RunCommand({"workers"}).out, HasSubstr("w1    connected  1.5 of 4   0 of 0 "));
  EXPECT_EQ(json::parse(RunCommand({"workers", "--json"}).out)[0]["attempts"][0], "12.3.0");
}

TEST_F(ProgramTest, ALostWorkerIsShownWithWhenItWasSeen) {
  pb::Worker& worker = tuner_.workers.emplace_back();
  worker.set_name("w2");
  worker.set_state("lost");
  worker.set_last_seen_us(WallClockUs() - int64_t{2} * 86'400 * 1'000'000);
  const std::string out = RunCommand({"workers"}).out;
  EXPECT_THAT(out, StartsWith("NAME  STATE  CPUS FREE  GPUS FREE  MEMORY  VERSION  LAST SEEN"));
  EXPECT_THAT(out, HasSubstr("\nw2    lost "));
  EXPECT_THAT(out, HasSubstr(DurationText(2.0 * 86'400) + " ago"));
  EXPECT_EQ(json::parse(RunCommand({"workers", "--json"}).out)[0]["state"], "lost");
}

TEST_F(ProgramTest, TcpCarriesTheToken) {
  const FakeServer tcp(tuner_, "127.0.0.1:0");
  std::ofstream(home_.folder() / "token") << "ada:secret\n";
  const CommandResult result = RunCommand(
      {"submit", WriteDocument("{}"), "--server", "127.0.0.1:" + std::to_string(tcp.port())});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(tuner_.authorization, "Bearer secret");
}

TEST_F(ProgramTest, NoServiceSaysWhatToDo) {
  server_.reset();
  const CommandResult local = RunCommand({"list"});
  EXPECT_EQ(local.status, 1);
  EXPECT_THAT(local.err, HasSubstr("start one on this machine with `rung local up`"));
  const CommandResult named =
      RunCommand({"list", "--server", (home_.folder() / "absent").string()});
  EXPECT_THAT(named.err, HasSubstr("check --server or RUNG_SERVER"));
}

TEST_F(ProgramTest, AServiceThatCannotDoItNowIsNotOneThatIsMissing) {
  tuner_.unavailable_calls = 3;  // as often as a call is tried
  const CommandResult result = RunCommand({"submit", WriteDocument("{}")});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot do this now: "));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("local up")));
}

TEST_F(ProgramTest, WhatIsNotUtf8IsRefusedWithItsPlace) {
  const CommandResult document = RunCommand({"submit", WriteDocument("{\n  \"name\": \"\xE9\"}")});
  EXPECT_EQ(document.status, 1);
  EXPECT_THAT(document.err, HasSubstr("line 2, column 12: byte 0xe9 is not UTF-8"));
  const CommandResult name = RunCommand({"show", "caf\xE9"});
  EXPECT_EQ(name.status, 2);
  EXPECT_THAT(name.err, HasSubstr("argument 2 is not UTF-8"));
}

TEST_F(ProgramTest, AnEmptyNameNamesNoExperiment) {
  EXPECT_EQ(RunCommand({"show", ""}).err, "rung: an id or a name is wanted, found ''\n");
}

TEST_F(ProgramTest, ErrorsCannotDriveTheTerminal) {
  const CommandResult result = RunCommand({"show", "x\x1b[2Jy"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("'x?[2Jy'"));
}

TEST_F(ProgramTest, AnUnknownCommandIsNamed) {
  EXPECT_EQ(RunCommand({"frob", "12"}).err,
            "rung: there is no command 'frob'\nRun `rung --help` for the commands.\n");
}

TEST_F(ProgramTest, AWordTooManyOrAnUnknownOneIsNamed) {
  EXPECT_EQ(RunCommand({"local", "start"}).err,
            "rung: there is no command 'local start'\nRun `rung local --help` for the commands.\n");
  EXPECT_EQ(RunCommand({"list", "extra"}).err,
            "rung: 'extra' is one argument too many\nRun `rung list --help` for the options.\n");
  EXPECT_EQ(RunCommand({"trials", "12", "--tops", "3"}).err,
            "rung: there is no option '--tops'\nRun `rung trials --help` for the options.\n");
}

TEST_F(ProgramTest, WrongUsageIsStatusTwo) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"frob"},
                                             {"submit"},
                                             {"trials", "12", "--top", "0"},
                                             {"trials", "12", "--state", "happy"},
                                             {"list", "--frob"},
                                             {"compare", "12", "--price", "-3"},
                                             {"local"},
                                             {"local", "start"}}) {
    const CommandResult result = RunCommand(arguments);
    EXPECT_EQ(result.status, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("rung: ")) << testing::PrintToString(arguments);
  }
}

TEST_F(ProgramTest, HelpAndVersionAreData) {
  EXPECT_EQ(RunCommand({"--version"}).out, "rung " RUNG_VERSION "\n");
  const CommandResult help = RunCommand({"report", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("3 on stop and pause"));
}

TEST_F(ProgramTest, LaterVerbsAreRefused) {
  for (const std::string verb : {"pause", "resume", "delete", "retry", "export", "drain", "db"}) {
    const CommandResult result = RunCommand({verb, "12", "--format", "csv"});
    EXPECT_EQ(result.status, 1) << verb;
    EXPECT_EQ(result.err, "rung: `rung " + verb + "` comes with a later version\n");
  }
}

TEST_F(ProgramTest, LocalStatusOfAnEmptyFolder) {
  const json status = json::parse(RunCommand({"local", "status", "--json"}).out);
  EXPECT_EQ(status["home"], home_.folder().string());
  EXPECT_EQ(status["running"], false);
  EXPECT_EQ(status["scheduler"]["running"], false);
  EXPECT_TRUE(status["worker"]["pid"].is_null());
  const CommandResult down = RunCommand({"local", "down"});
  EXPECT_EQ(down.status, 0);
  EXPECT_THAT(down.err, HasSubstr("nothing was running"));
}

}  // namespace
}  // namespace rung::cli
