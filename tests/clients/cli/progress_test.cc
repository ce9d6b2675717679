#include "clients/cli/progress.h"

#include <gtest/gtest.h>

#include "clients/cli/experiment_text.h"
#include "clients/cli/quantity.h"
#include "clients/cli/table.h"

namespace rung::cli {
namespace {

constexpr int64_t kCreatedUs = 1'700'000'000'000'000;
constexpr int64_t kSecondUs = 1'000'000;

// 4 trials of at most 30 steps: one stopped at 10, one completed at 30, one running at step 20.
pb::WatchExperimentResponse Halfway() {
  pb::WatchExperimentResponse update;
  pb::Experiment& experiment = *update.mutable_experiment();
  experiment.set_id(12);
  experiment.set_name("bert-asha");
  experiment.set_state(pb::EXPERIMENT_STATE_ACTIVE);
  experiment.set_metric("accuracy");
  experiment.set_goal(pb::GOAL_MAXIMIZE);
  experiment.set_best_by(pb::BEST_BY_BEST);
  experiment.set_planned_trials(4);
  experiment.set_max_step(30);
  experiment.set_created_us(kCreatedUs);
  experiment.mutable_trials()->set_completed(1);
  experiment.mutable_trials()->set_stopped(1);
  experiment.mutable_trials()->set_running(1);
  experiment.set_steps_spent(60);
  pb::Trial& best = *experiment.mutable_best();
  best.set_experiment_id(12);
  best.set_trial_number(1);
  best.set_best_value(0.853123);
  best.set_best_step(27);
  best.set_params_json(R"({"lr":3e-05})");
  pb::Rung& rung = *experiment.add_rungs();
  rung.set_level(10);
  rung.set_entries(3);
  rung.set_continued(2);
  rung.set_stopped(1);
  rung.set_best_value(0.81);
  pb::Trial& running = *update.add_active_trials();
  running.set_experiment_id(12);
  running.set_trial_number(2);
  running.set_state(pb::TRIAL_STATE_RUNNING);
  running.set_last_step(20);
  running.set_last_value(0.8);
  running.set_best_value(0.82);
  running.set_params_json(R"({"lr":1e-05})");
  return update;
}

TEST(SecondsLeft, TakesTheAverageOfFinishedTrialsAtThePaceSoFar) {
  // Finished trials cost (60 - 20) / 2 = 20 steps on average. The running one is at 20: half of the
  // rest to 30 is 5. One more trial is to come: 20. 25 steps at 60 steps in 120 s take 50 s.
  const auto left = SecondsLeft(Halfway(), kCreatedUs + 120 * kSecondUs);
  ASSERT_TRUE(left.has_value());
  EXPECT_DOUBLE_EQ(*left, 50);
}

TEST(SecondsLeft, TakesMaxStepBeforeAnyTrialFinished) {
  pb::WatchExperimentResponse update = Halfway();
  update.mutable_experiment()->mutable_trials()->set_completed(0);
  update.mutable_experiment()->mutable_trials()->set_stopped(0);
  update.mutable_experiment()->set_steps_spent(20);
  // 10 steps of the running trial and 3 trials of 30 are left: 100 steps at 20 steps in 10 s.
  EXPECT_DOUBLE_EQ(SecondsLeft(update, kCreatedUs + 10 * kSecondUs).value_or(-1), 50);
}

TEST(SecondsLeft, WeighsThePlanAsThreeFinishedTrials) {
  pb::WatchExperimentResponse update = Halfway();
  update.mutable_experiment()->set_plan_json(R"({"expected_steps": 100.0})");
  // The plan expects 100 / 4 = 25 steps a trial: (40 + 3 * 25) / (2 + 3) = 23 on average. The
  // running one, at 20, has 3 to go, the last one 23: 26 steps at 60 steps in 120 s.
  EXPECT_DOUBLE_EQ(SecondsLeft(update, kCreatedUs + 120 * kSecondUs).value_or(-1), 52);
}

// As Halfway, under promotion: who was stopped there waits at its rung here, and none has ended.
pb::WatchExperimentResponse HalfwayUnderPromotion() {
  pb::WatchExperimentResponse update = Halfway();
  pb::TrialCounts& trials = *update.mutable_experiment()->mutable_trials();
  trials.set_completed(0);
  trials.set_stopped(0);
  trials.set_paused(2);
  return update;
}

TEST(SecondsLeft, CountsPausedTrialsAmongThoseThatAreDone) {
  // As with two finished trials: 25 steps at 60 steps in 120 s.
  EXPECT_DOUBLE_EQ(SecondsLeft(HalfwayUnderPromotion(), kCreatedUs + 120 * kSecondUs).value_or(-1),
                   50);
}

TEST(SecondsLeft, IsShortWhenAllButOneArePaused) {
  // 27 trials of at most 27 steps; 26 paused, the last one at step 18 of 225 steps in 225 s. It is
  // past the average, (225 - 18 + 3 * 81 / 27) / (26 + 3) < 8, so half of the rest to 27 is left.
  pb::WatchExperimentResponse update = HalfwayUnderPromotion();
  pb::Experiment& experiment = *update.mutable_experiment();
  experiment.set_planned_trials(27);
  experiment.set_max_step(27);
  experiment.set_plan_json(R"({"expected_steps": 81.0})");
  experiment.mutable_trials()->set_paused(26);
  experiment.set_steps_spent(225);
  update.mutable_active_trials(0)->set_last_step(18);
  EXPECT_DOUBLE_EQ(SecondsLeft(update, kCreatedUs + 225 * kSecondUs).value_or(-1), 4.5);
}

TEST(SecondsLeft, IsUnknownWithoutStepsOrPlanOrWhenNothingGoesOn) {
  const int64_t now_us = kCreatedUs + 120 * kSecondUs;
  pb::WatchExperimentResponse no_steps = Halfway();
  no_steps.mutable_experiment()->set_steps_spent(0);
  EXPECT_FALSE(SecondsLeft(no_steps, now_us).has_value());
  pb::WatchExperimentResponse no_plan = Halfway();
  no_plan.mutable_experiment()->clear_planned_trials();
  EXPECT_FALSE(SecondsLeft(no_plan, now_us).has_value());
  pb::WatchExperimentResponse paused = Halfway();
  paused.mutable_experiment()->set_state(pb::EXPERIMENT_STATE_PAUSED);
  EXPECT_FALSE(SecondsLeft(paused, now_us).has_value());
  EXPECT_FALSE(SecondsLeft(Halfway(), kCreatedUs).has_value());
}

TEST(ProgressBar, FillsWithTheFraction) {
  EXPECT_EQ(ProgressBar(0, 12), "[          ]");
  EXPECT_EQ(ProgressBar(0.5, 12), "[====>     ]");
  EXPECT_EQ(ProgressBar(1, 12), "[==========]");
  EXPECT_EQ(ProgressBar(7, 12), "[==========]");
  EXPECT_EQ(ProgressBar(-1, 0), "[  ]");
}

TEST(ProgressLine, SaysAllInOneLine) {
  EXPECT_EQ(ProgressLine(Halfway(), kCreatedUs + 120 * kSecondUs),
            "bert-asha (12): active, 2/4 trials done, 1 running, 60 steps in 2 min, best accuracy "
            "0.8531 (best reported) by 12.1, about 50 s left");
}

TEST(ProgressLine, SaysWhyNothingRuns) {
  pb::WatchExperimentResponse update = Halfway();
  update.mutable_experiment()->mutable_trials()->set_running(0);
  update.mutable_experiment()->mutable_trials()->set_queued(1);
  update.mutable_active_trials(0)->set_state(pb::TRIAL_STATE_QUEUED);
  update.mutable_active_trials(0)->set_reason("waiting: needs 8 GPUs");
  EXPECT_TRUE(ProgressLine(update, kCreatedUs).ends_with("; 12.2 is waiting: needs 8 GPUs"));
  const Terminal terminal{.interactive = true, .colour = false, .columns = 101, .lines = 40};
  EXPECT_NE(ProgressScreen(update, kCreatedUs, terminal).find("\n12.2 is waiting: needs 8 GPUs\n"),
            std::string::npos);
}

TEST(ProgressScreen, ShowsTrialsRungsAndBest) {
  const Terminal terminal{.interactive = true, .colour = false, .columns = 101, .lines = 40};
  EXPECT_EQ(ProgressScreen(Halfway(), kCreatedUs + 120 * kSecondUs, terminal),
            "bert-asha  experiment 12  active  2 min  60 steps\n"
            "[=============>              ]  2/4 trials done, 1 running, about 50 s left\n"
            "best accuracy 0.8531 (best reported) by trial 12.1 at step 27: lr=3e-05\n"
            "\n"
            "TRIAL  STATE    STEP   LAST  BEST  PARAMETERS\n"
            "12.2   running  20/30  0.8   0.82  lr=1e-05\n"
            "\n"
            "BRACKET  LEVEL  ENTRIES  WENT ON  STOPPED  PAUSED  SKIPPED  BEST\n"
            "      0     10        3        2        1       0        0  0.81\n");
}

TEST(ProgressScreen, FillsTheBarWithPausedTrialsToo) {
  const Terminal terminal{.interactive = true, .colour = false, .columns = 101, .lines = 40};
  EXPECT_NE(
      ProgressScreen(HalfwayUnderPromotion(), kCreatedUs + 120 * kSecondUs, terminal)
          .find("[=============>              ]  0/4 trials done, 1 running, 2 paused, about 50 s"),
      std::string::npos);
}

TEST(RungsTable, CountsOverPromotions) {
  pb::Experiment experiment;
  pb::Rung& rung = *experiment.add_rungs();
  rung.set_level(10);
  rung.set_entries(12);
  rung.set_continued(5);
  rung.set_over_promoted(1);
  rung.set_paused(7);
  rung.set_best_value(0.81);
  EXPECT_EQ(RungsTable(experiment).Text({}),
            "BRACKET  LEVEL  ENTRIES     WENT ON  STOPPED  PAUSED  SKIPPED  BEST\n"
            "      0     10       12  5 (1 over)        0       7        0  0.81\n");
}

TEST(ProgressScreen, FitsTheTerminal) {
  pb::WatchExperimentResponse update = Halfway();
  for (int i = 3; i < 60; ++i) {
    pb::Trial& trial = *update.add_active_trials();
    trial = update.active_trials(0);
    trial.set_trial_number(i);
    trial.set_params_json(R"({"a_parameter_with_a_long_name":1,"another_one":2,"and_more":3})");
  }
  for (const size_t lines : {3U, 8U, 12U, 24U}) {
    const Terminal terminal{.interactive = true, .colour = false, .columns = 60, .lines = lines};
    const std::string screen = ProgressScreen(update, kCreatedUs + 120 * kSecondUs, terminal);
    const auto drawn = static_cast<size_t>(std::count(screen.begin(), screen.end(), '\n'));
    EXPECT_LE(drawn, std::max<size_t>(lines, 4) - 1);
    for (size_t start = 0; start < screen.size();) {
      const size_t end = screen.find('\n', start);
      EXPECT_LT(DisplayWidth(screen.substr(start, end - start)), 60U);
      start = end + 1;
    }
  }
}

}  // namespace
}  // namespace rung::cli
