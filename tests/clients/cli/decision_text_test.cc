#include "clients/cli/decision_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rung::cli {
namespace {

pb::DecisionRow Row(const std::string& decision, double value) {
  pb::DecisionRow row;
  row.set_level(30);
  row.set_step(30);
  row.set_value(value);
  row.set_n_before(4);
  row.set_entries(5);
  row.set_decision(decision);
  return row;
}

TEST(DecisionText, SaysWhatACutoffDid) {
  pb::DecisionRow row = Row("stop", 0.71);
  row.set_cutoff(0.753312);
  row.set_reason("below_cutoff");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "stopped at level 30: 0.71 is below the cutoff 0.7533 of 4 earlier values");
  row = Row("continue", 0.78);
  row.set_cutoff(0.75);
  row.set_n_before(1);
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "went on at level 30: 0.78 is not below the cutoff 0.75 of 1 earlier value");
  row.set_value(0.75);
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "went on at level 30: 0.75 equals the cutoff 0.75 of 1 earlier value");
}

TEST(DecisionText, TurnsTheCutoffRoundWhereSmallerIsBetter) {
  pb::DecisionRow row = Row("stop", 1.2);
  row.set_cutoff(0.9);
  EXPECT_EQ(DecisionText(row, pb::GOAL_MINIMIZE),
            "stopped at level 30: 1.2 is above the cutoff 0.9 of 4 earlier values");
}

TEST(DecisionText, SaysWhatTheMedianWas) {
  pb::DecisionRow row = Row("stop", 0.71);
  row.set_cutoff(0.75);
  row.set_reason("below_median");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "stopped at level 30: its best value 0.71 is below 0.75, the median of the running "
            "means of 4 others");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MINIMIZE),
            "stopped at level 30: its best value 0.71 is above 0.75, the median of the running "
            "means of 4 others");
}

TEST(DecisionText, ShowsEnoughDigitsToTellAValueFromItsCutoff) {
  // 0.69314 and 0.69312 are both 0.6931 in four digits; losses start near ln 2 = 0.693147.
  pb::DecisionRow row = Row("stop", 0.69314);
  row.set_cutoff(0.69312);
  row.set_reason("below_cutoff");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MINIMIZE),
            "stopped at level 30: 0.69314 is above the cutoff 0.69312 of 4 earlier values");
  row.set_reason("below_median");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MINIMIZE),
            "stopped at level 30: its best value 0.69314 is above 0.69312, the median of the "
            "running means of 4 others");
}

TEST(DecisionText, SaysThatNobodyWasThereToCompareWith) {
  pb::DecisionRow row = Row("continue", 0.62);
  row.set_reason("no_rivals");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "went on at level 30: 0.62 is the first value there");
  row.set_reason("few_rivals");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "went on at level 30: 0.62 has only 4 earlier values to be compared with, fewer than "
            "min_rivals");
}

TEST(DecisionText, SaysWhoGoesOnInPromotion) {
  pb::DecisionRow row = Row("pause", 0.5);
  row.set_rank(3);
  row.set_reason("below_top");
  EXPECT_EQ(
      DecisionText(row, pb::GOAL_MAXIMIZE),
      "paused at level 30: 0.5, it has rank 3 of 5 values: not in the share that goes on, so far");
  row.set_rank(1);
  row.set_entries(1);
  EXPECT_EQ(
      DecisionText(row, pb::GOAL_MAXIMIZE),
      "paused at level 30: 0.5, it has rank 1 of 1 value: not in the share that goes on, so far");
  row = Row("promote", 0.9);
  row.set_rank(1);
  row.set_reason("drain");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "promoted at level 30: 0.9, it has rank 1 of 5 values: nothing else was left to run "
            "and no trial had completed");
}

TEST(DecisionText, NamesSkippedLevelsLateReportsAndNonFiniteValues) {
  pb::DecisionRow row = Row("skipped", 0.5);
  row.set_step(95);
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "skipped level 30: its report at step 95 was at a higher level already, or at max_t");
  row = Row("stop", std::nan(""));
  row.set_step(31);
  row.set_reason("non_finite");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "stopped at level 30 (step 31): nan is not a finite value");
}

TEST(DecisionText, GivesTheRankOfPausesAndPromotions) {
  pb::DecisionRow row = Row("pause", 0.62);
  row.set_rank(3);
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "paused at level 30: 0.62, it has rank 3 of 5 values");
  row.set_decision("promote");
  row.set_reason("of_a_later_version");
  EXPECT_EQ(DecisionText(row, pb::GOAL_MAXIMIZE),
            "promoted at level 30: 0.62, it has rank 3 of 5 values (of_a_later_version)");
}

TEST(StateSentence, SaysWhatAQueuedTrialWaitsFor) {
  pb::Trial trial;
  trial.set_experiment_id(12);
  trial.set_trial_number(3);
  trial.set_state(pb::TRIAL_STATE_QUEUED);
  trial.set_reason("waiting: needs 8 GPUs, no worker has more than 0");
  EXPECT_EQ(StateSentence(trial),
            "trial 12.3 is queued: waiting: needs 8 GPUs, no worker has more than 0");
  trial.set_state(pb::TRIAL_STATE_STOPPED);
  trial.set_reason("below_cutoff");
  EXPECT_EQ(StateSentence(trial),
            "trial 12.3 is stopped: its value was worse than the cutoff of a rung (below_cutoff)");
}

}  // namespace
}  // namespace rung::cli
