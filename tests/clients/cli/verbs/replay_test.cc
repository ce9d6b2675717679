#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "search/stopping_rule.h"
#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kDocument =
    R"({"metric": "accuracy", "goal": "maximize", "space": {"lr": {"uniform": [0, 1]}},
        "searcher": {"random": {"trials": 3}},
        "scheduler": {"asha": {"max_t": 30, "grace_period": 10, "reduction_factor": 3}}})";

/// Experiment 12 has three trials: 0 and 2 ran to 30, 1 was stopped at 10.
class ReplayTest : public testing::Test {
 protected:
  ReplayTest() {
    pb::Experiment experiment;
    experiment.set_id(12);
    experiment.set_name("asha");
    experiment.set_state(pb::EXPERIMENT_STATE_COMPLETED);
    experiment.set_metric("accuracy");
    experiment.set_goal(pb::GOAL_MAXIMIZE);
    experiment.set_best_by(pb::BEST_BY_BEST);
    experiment.set_document(kDocument);
    for (int32_t number = 0; number < 3; ++number) {
      pb::Trial trial;
      trial.set_experiment_id(12);
      trial.set_trial_number(number);
      trial.set_state(number == 1 ? pb::TRIAL_STATE_STOPPED : pb::TRIAL_STATE_COMPLETED);
      trial.set_reason(number == 1 ? "below_cutoff" : "max_t");
      trial.set_ended_us(100);
      tuner_.trials.push_back(trial);
    }
    tuner_.trials[2].set_best_value(.8);
    tuner_.trials[2].set_best_step(30);
    *experiment.mutable_best() = tuner_.trials[2];
    tuner_.experiments = {experiment};
    Report(0, 10, .6);
    Report(1, 10, .5);  // below .6: stopped
    Report(2, 10, .7);
    Report(0, 20, .6);
    Report(2, 20, .7);
    Report(0, 30, .6);
    Report(2, 30, .8);
    server_ =
        std::make_unique<FakeServer>(tuner_, "unix:" + (home_.folder() / "rung.sock").string());
  }

  /// A report, and the rows that it makes.
  void Report(int32_t trial, Steps step, double value) {
    pb::Metric metric;
    metric.set_trial_number(trial);
    metric.set_step(step);
    metric.set_name("accuracy");
    metric.set_value(value);
    metric.set_time_us(static_cast<int64_t>(tuner_.metrics.size()));
    tuner_.metrics.push_back(metric);
    for (const DecisionRecord& record : rule_->OnReport({{trial}, step, value}).records) {
      pb::DecisionRow row;
      row.set_seq(static_cast<int64_t>(tuner_.decisions.size()) + 1);
      row.set_level(record.level);
      row.set_trial_number(trial);
      row.set_step(step);
      row.set_value(value);
      row.set_n_before(record.n_before);
      row.set_entries(record.entries);
      if (record.rank) row.set_rank(*record.rank);
      if (record.cutoff) row.set_cutoff(*record.cutoff);
      row.set_rule(record.rule);
      row.set_decision(record.decision);
      row.set_reason(record.reason);
      row.set_time_us(metric.time_us());
      tuner_.decisions.push_back(row);
    }
  }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string file = home_.folder() / name;
    std::ofstream(file) << text;
    return file;
  }

  TemporaryHome home_;
  FakeTuner tuner_;
  std::unique_ptr<StoppingRule> rule_ = *MakeStoppingRule(
      AshaSpec{.max_t = 30, .grace_period = 10, .reduction_factor = 3}, Goal::kMaximize, 0);
  std::unique_ptr<FakeServer> server_;
};

TEST_F(ReplayTest, ATraceNeedsNoService) {
  server_.reset();
  const CommandResult result = RunCommand(
      {"replay", Write("trace.json",
                       R"({"goal": "maximize", "trials": 2, "scheduler": {"asha": {"max_t": 100,
                 "grace_period": 10, "reduction_factor": 3}}, "events": [{"free": true},
                 {"report": {"trial": 0, "step": 10, "value": 0.5}}]})")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out,
            "{\"start\": 0}\n{\"trial\": 0, \"step\": 10, \"decision\": \"continue\", \"reason\": "
            "\"no_rivals\", \"level\": 10, \"cutoff\": null, \"n_before\": 0}\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(ReplayTest, AWrongTraceIsRefusedByTheIndexOfItsEvent) {
  const CommandResult result = RunCommand(
      {"replay", Write("trace.json",
                       R"({"goal": "maximize", "trials": 2, "scheduler": {"fifo": {}}, "events":
                           [{"free": true}, {"report": {"trial": 7, "step": 1, "value": 1}}]})")});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "{\"start\": 0}\n");
  EXPECT_EQ(result.err,
            "rung: events[1].report.trial: must be an integer from 0 to 1 (trials is 2), found "
            "7\n");
  EXPECT_THAT(RunCommand({"replay", home_.folder() / "none.json"}).err,
              HasSubstr("none.json: No such file or directory"));
  EXPECT_THAT(RunCommand({"replay", home_.folder()}).err, HasSubstr("is a folder"));
  EXPECT_THAT(RunCommand({"replay", "trace.json", "--scheduler", "{}"}).err,
              HasSubstr("--scheduler is for a recorded experiment"));
}

TEST_F(ReplayTest, APeersRecordingIsComparedWithOurDecisions) {
  const std::string file = Write(
      "peer.json",
      R"({"peer": "optuna", "version": "5.0.0", "params": {"direction": "maximize", "max_t": 100,
          "min_resource": 10, "reduction_factor": 3, "min_early_stopping_rate": 0,
          "bootstrap_count": 0}, "events": [{"op": "add", "trial": "t00"},
          {"op": "report", "trial": "t00", "t": 10, "v": 0.5, "decision": "STOP"},
          {"op": "report", "trial": "t00", "t": 100, "v": 0.5, "decision": "CONTINUE"}]})");
  const CommandResult text = RunCommand({"replay", file});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\"recorded\": \"stop\"}\n"));
  EXPECT_EQ(text.err,
            "optuna 5.0.0: 1 decision compared, 1 differ; the first at events[1]; 1 at or past "
            "max_t not compared, where optuna trains on and rung ends a trial\n");
  const CommandResult machine = RunCommand({"replay", file, "--json"});
  const std::string last = machine.out.substr(machine.out.rfind('\n', machine.out.size() - 2) + 1);
  EXPECT_EQ(json::parse(last)["differ"], 1);
  EXPECT_EQ(json::parse(last)["first_difference"], 1);
}

TEST_F(ReplayTest, AnExperimentsRowsAreItsRules) {
  const CommandResult text = RunCommand({"replay", "12"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.out,
            "experiment 12: its 3 stored decisions on 7 reports are taken again by its scheduler, "
            "every row the same\n");
  const json machine = json::parse(RunCommand({"replay", "asha", "--json"}).out);
  EXPECT_EQ(machine["equal"], true);
  EXPECT_EQ(machine["decisions"], 3);
}

TEST_F(ReplayTest, TheFirstRowThatDiffersIsNamed) {
  tuner_.decisions[1].set_decision("continue");
  const CommandResult text = RunCommand({"replay", "12"});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.err, StartsWith("rung: decision 2: stored is continue of trial 1 at level 10"));
  const CommandResult machine = RunCommand({"replay", "12", "--json"});
  EXPECT_EQ(machine.status, 1);
  EXPECT_EQ(json::parse(machine.out)["equal"], false);
}

TEST_F(ReplayTest, AnotherSchedulerSaysWhatItWouldHaveStoppedAndSaved) {
  const std::string scheduler =
      R"({"asha": {"max_t": 20, "grace_period": 10, "reduction_factor": 3}})";
  const CommandResult text = RunCommand({"replay", "12", "--scheduler", scheduler});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("trials      3: 1 stopped, 2 completed\n"));
  EXPECT_THAT(text.out, HasSubstr("steps       50 of 70 recorded, 20 saved (28.6 %)\n"));
  EXPECT_THAT(text.out,
              HasSubstr("winner      trial 12.2 (accuracy 0.8, best reported, at step 30) "
                        "does not survive: it ends at step 20\n"));
  EXPECT_THAT(text.out,
              HasSubstr("would win   trial 12.2 (accuracy 0.7, best reported, at step 10)\n"));
  EXPECT_THAT(text.out, HasSubstr("stopped at level 10: 0.5 is below the cutoff 0.6 of 1 earlier"));
  const json machine =
      json::parse(RunCommand({"replay", "12", "--scheduler", scheduler, "--json"}).out);
  EXPECT_EQ(machine["saved_steps"], 20);
  EXPECT_EQ(machine["winner"]["survives"], false);
  EXPECT_EQ(machine["would_win"], 2);
  EXPECT_EQ(machine["trials"][1]["fate"], "stopped");
  EXPECT_EQ(machine["trials"][1]["last_decision"]["cutoff"], .6);
}

TEST_F(ReplayTest, CurvesThatEndTooEarlyAreCounted) {
  const CommandResult text =
      RunCommand({"replay", "12", "--scheduler",
                  R"({"asha": {"max_t": 30, "grace_period": 20, "reduction_factor": 3}})"});
  EXPECT_THAT(text.out, HasSubstr("1 curve ends before this scheduler would have ended it"));
  EXPECT_THAT(text.out, HasSubstr("survives"));
}

TEST_F(ReplayTest, AWrongSchedulerAndAnExperimentThatGoesOnAreRefused) {
  EXPECT_EQ(RunCommand({"replay", "12", "--scheduler", R"({"asha": {"max": 3}})"}).err,
            "rung: scheduler.asha.max: unknown key, did you mean \"max_t\"? Allowed: max_t, "
            "grace_period, reduction_factor, brackets, variant, cut, min_rivals, non_finite\n");
  EXPECT_EQ(RunCommand({"replay", "13"}).status, 1);
  tuner_.experiments[0].set_state(pb::EXPERIMENT_STATE_ACTIVE);
  EXPECT_EQ(RunCommand({"replay", "12"}).err,
            "rung: experiment 12 is active: it can be replayed once it has ended\n");
}

}  // namespace
}  // namespace rung::cli
