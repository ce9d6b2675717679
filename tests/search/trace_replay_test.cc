#include "search/trace_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr AshaSpec kPromotion = {.max_t = 100,
                                 .grace_period = 10,
                                 .reduction_factor = 3,
                                 .variant = AshaSpec::Variant::kPromotion};
constexpr AshaSpec kStopping = {.max_t = 100, .grace_period = 10, .reduction_factor = 3};

TraceReplay Make(const AshaSpec& rule, int32_t trials, Goal goal = Goal::kMaximize) {
  absl::StatusOr<TraceReplay> replay =
      TraceReplay::Create({.rule = rule, .goal = goal, .trials = trials});
  EXPECT_TRUE(replay.ok()) << replay.status();
  return *std::move(replay);
}

/// "continue no_rivals"
std::string Report(TraceReplay& replay, int32_t trial, Steps step, double value) {
  const auto answer = replay.OnReport({{trial}, step, value});
  if (!answer.ok()) return std::string(answer.status().message());
  const std::string decision(ToString(answer->decision));
  return answer->reason.empty() ? decision : decision + " " + answer->reason;
}

/// "start 7", "resume 3 from 10" or "idle"
std::string Free(TraceReplay& replay) {
  const TraceAnswer answer = replay.OnFree();
  if (const auto* start = std::get_if<StartAnswer>(&answer)) {
    return "start " + std::to_string(start->trial.value);
  }
  if (const auto* resume = std::get_if<ResumeAnswer>(&answer)) {
    return "resume " + std::to_string(resume->trial.value) + " from " +
           std::to_string(resume->from);
  }
  return "idle";
}

/// The state after it.
std::string Exit(TraceReplay& replay, int32_t trial, TraceExit exit) {
  const auto answer = replay.OnExit({trial}, exit);
  if (!answer.ok()) return std::string(answer.status().message());
  return std::string(ToString(answer->state));
}

TEST(TraceReplay, FreeResourcesStartTrialsInOrderUntilNoneIsLeft) {
  TraceReplay replay = Make(kStopping, 3);
  EXPECT_EQ(Free(replay), "start 0");
  EXPECT_EQ(Report(replay, 1, 5, .5), "continue");  // a report starts its trial
  EXPECT_EQ(Free(replay), "start 2");
  EXPECT_EQ(Free(replay), "idle");
}

TEST(TraceReplay, ThreeTrialsWhoseBestArrivesLastGoOnByDrainWithoutARestart) {
  TraceReplay replay = Make(kPromotion, 3);  // EARLY_STOPPING.md §7
  for (const char* start : {"start 0", "start 1", "start 2"}) EXPECT_EQ(Free(replay), start);
  EXPECT_EQ(Report(replay, 0, 10, .5), "pause below_top");  // 1 div 3 = 0
  EXPECT_EQ(Free(replay), "idle");
  EXPECT_EQ(Report(replay, 1, 10, .6), "pause below_top");
  EXPECT_EQ(Free(replay), "idle");
  EXPECT_EQ(Report(replay, 2, 10, .7), "continue promoted_on_arrival");  // 3 div 3 = 1
  EXPECT_EQ(Report(replay, 2, 30, .8), "continue drain");  // 1 · 30 div 90 = 0, nothing else runs
  EXPECT_EQ(Report(replay, 2, 90, .8), "continue drain");
  EXPECT_EQ(Report(replay, 2, 100, .9), "stop max_t");
  EXPECT_EQ(Free(replay), "idle");  // one has completed: no further drain
}

TEST(TraceReplay, ThreeTrialsWhoseBestArrivesFirstResumeItFromItsEntry) {
  TraceReplay replay = Make(kPromotion, 3);
  for (int i = 0; i < 3; ++i) Free(replay);
  EXPECT_EQ(Report(replay, 0, 10, .7), "pause below_top");
  EXPECT_EQ(Report(replay, 1, 12, .6), "pause below_top");  // passes 10, which pauses it at 12
  EXPECT_EQ(Report(replay, 2, 10, .5), "pause below_top");
  EXPECT_EQ(Free(replay), "resume 0 from 10");
  EXPECT_EQ(Free(replay), "idle");
  EXPECT_EQ(Exit(replay, 0, TraceExit::kFailed), "failed");
  // It keeps its promotion, so 1 is not among the first 3 div 3 = 1; nothing else is left.
  EXPECT_EQ(Free(replay), "resume 1 from 12");
  EXPECT_EQ(Report(replay, 1, 30, .7), "continue drain");
}

TEST(TraceReplay, APromotionComesBeforeANewTrialAndALostTrialBeforeBoth) {
  TraceReplay replay = Make(kPromotion, 9);
  for (int i = 0; i < 4; ++i) Free(replay);
  EXPECT_EQ(Report(replay, 0, 10, .7), "pause below_top");
  EXPECT_EQ(Report(replay, 1, 10, .6), "pause below_top");
  EXPECT_EQ(Exit(replay, 3, TraceExit::kLost), "queued");
  EXPECT_EQ(Report(replay, 2, 10, .9), "pause awaits_resources");  // the lost trial comes first
  EXPECT_EQ(Free(replay), "resume 3 from 0");
  EXPECT_EQ(Free(replay), "resume 2 from 10");
  EXPECT_EQ(Free(replay), "start 4");
}

TEST(TraceReplay, AResumedAttemptIsNotAskedAgainUpToItsResumeStep) {
  TraceReplay replay = Make(kPromotion, 3);
  for (int i = 0; i < 3; ++i) Free(replay);
  Report(replay, 0, 10, .7);
  Report(replay, 1, 10, .6);
  Report(replay, 2, 10, .5);
  EXPECT_EQ(Free(replay), "resume 0 from 10");
  EXPECT_EQ(Report(replay, 0, 8, .1), "continue");
  EXPECT_EQ(Report(replay, 0, 10, .1), "continue");
  EXPECT_EQ(Report(replay, 0, 11, .7), "continue");
  EXPECT_EQ(Exit(replay, 0, TraceExit::kLost), "queued");
  EXPECT_EQ(Free(replay), "resume 0 from 10");  // its last pause
  EXPECT_EQ(Report(replay, 0, 11, .8), "continue");
}

TEST(TraceReplay, ALostTrialPassesADecidedLevelAgainWithoutASecondDecision) {
  TraceReplay replay = Make(kStopping, 2);  // cases.md 11
  EXPECT_EQ(Report(replay, 0, 10, .5), "continue no_rivals");
  EXPECT_EQ(Report(replay, 0, 12, .5), "continue");
  EXPECT_EQ(Exit(replay, 0, TraceExit::kLost), "queued");
  EXPECT_EQ(Free(replay), "resume 0 from 0");
  EXPECT_EQ(Report(replay, 0, 10, .1), "continue");
  // The .5 that was decided on still stands: n_before is 1.
  const auto answer = replay.OnReport({{1}, 10, .4});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->decision, Decision::kStop);
  EXPECT_EQ(answer->n_before, 1);
  EXPECT_EQ(answer->cutoff, .5);
}

TEST(TraceReplay, WhatAPausedTrialTrainedOnToIsJudgedAtItsPromotion) {
  TraceReplay replay = Make(kPromotion, 4);
  for (int i = 0; i < 3; ++i) Free(replay);
  EXPECT_EQ(Report(replay, 0, 10, .7), "pause below_top");
  EXPECT_EQ(Report(replay, 0, 30, .9), "pause");
  EXPECT_EQ(Report(replay, 1, 10, .6), "pause below_top");
  EXPECT_EQ(Report(replay, 2, 10, .5), "pause below_top");
  // Trial 0 is promoted, pauses at 30 at once, and takes no resources.
  EXPECT_EQ(Free(replay), "start 3");
  EXPECT_EQ(Exit(replay, 3, TraceExit::kFailed), "failed");
  EXPECT_EQ(Free(replay), "resume 0 from 30");  // the drain
}

TEST(TraceReplay, TheExitAfterADecisionChangesNothing) {
  TraceReplay replay = Make(kPromotion, 3);
  Free(replay);
  EXPECT_EQ(Report(replay, 0, 10, .7), "pause below_top");
  EXPECT_EQ(Exit(replay, 0, TraceExit::kFailed), "paused");
  EXPECT_EQ(Report(replay, 0, 11, .7), "trial: 0 has exited and is paused, so it cannot report");
}

TEST(TraceReplay, AStoppedTrialIsToldSoAgainWhateverItReports) {
  TraceReplay replay = Make(kStopping, 3);
  Report(replay, 0, 10, .5);
  EXPECT_EQ(Report(replay, 1, 10, .4), "stop below_cutoff");
  EXPECT_EQ(Report(replay, 1, 100, .9), "stop below_cutoff");
  EXPECT_EQ(Report(replay, 2, 95, kNan), "stop non_finite");
  EXPECT_EQ(Report(replay, 2, 96, .9), "stop non_finite");
  EXPECT_EQ(Report(replay, 0, 100, .5), "stop max_t");
  EXPECT_EQ(Report(replay, 0, 101, .5), "stop max_t");
}

TEST(TraceReplay, TheSameReportIsAnsweredAsTheFirstTime) {
  TraceReplay replay = Make(kStopping, 3);
  const auto first = replay.OnReport({{0}, 10, .5});
  const auto again = replay.OnReport({{0}, 10, .5});
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(again->level, 10);
  EXPECT_EQ(again->reason, first->reason);
  EXPECT_EQ(again->n_before, first->n_before);
  EXPECT_EQ(Report(replay, 1, 10, kNan), "stop non_finite");
  EXPECT_EQ(Report(replay, 1, 10, kNan), "stop non_finite");
}

TEST(TraceReplay, WhatCannotHaveHappenedIsRefused) {
  TraceReplay replay = Make(kStopping, 3);
  Report(replay, 0, 10, .5);
  EXPECT_EQ(Report(replay, 0, 9, .5),
            "step: must be at least 10, the last step of trial 0, found 9");
  EXPECT_EQ(Report(replay, 0, 10, .6), "value: trial 0 reported 0.5 at step 10 before, found 0.6");
  EXPECT_EQ(Report(replay, 1, 0, .5), "step: must be at least 1, found 0");
  EXPECT_EQ(Report(replay, 3, 1, .5),
            "trial: must be an integer from 0 to 2 (trials is 3), found 3");
  EXPECT_EQ(Exit(replay, 2, TraceExit::kFailed),
            "trial: 2 does not run (not started), so it cannot exit");
  EXPECT_EQ(Exit(replay, 0, TraceExit::kCompleted), "completed");
  EXPECT_EQ(Exit(replay, 0, TraceExit::kCompleted),
            "trial: 0 does not run (completed), so it cannot exit");
  EXPECT_EQ(Report(replay, 0, 11, .5), "trial: 0 has exited and is completed, so it cannot report");
}

TEST(TraceReplay, TheNumberOfTrialsHasALimit) {
  EXPECT_THAT(std::string(TraceReplay::Create({.rule = kStopping, .trials = 0}).status().message()),
              HasSubstr("trials: must be an integer from 1 to 10000000, found 0"));
  EXPECT_FALSE(TraceReplay::Create({.rule = kStopping, .trials = kTraceTrialsMax + 1}).ok());
}

TEST(TraceReplay, AnExperimentWithoutACompletedTrialDrainsAllThatPaused) {
  TraceReplay replay = Make(kPromotion, 3);
  for (int i = 0; i < 3; ++i) Free(replay);
  Report(replay, 0, 10, .5);
  Report(replay, 1, 10, .4);
  EXPECT_EQ(Exit(replay, 2, TraceExit::kFailed), "failed");
  std::vector<std::string> frees;
  for (int32_t i = 0; i < 2; ++i) {
    frees.push_back(Free(replay));
    Exit(replay, i, TraceExit::kFailed);
  }
  frees.push_back(Free(replay));
  EXPECT_THAT(frees, ElementsAre("resume 0 from 10", "resume 1 from 10", "idle"));
}

}  // namespace
}  // namespace rung
