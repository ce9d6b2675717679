#include "search/hindsight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace rung {
namespace {

using ::testing::ElementsAre;

constexpr AshaSpec kStopping = {.max_t = 100, .grace_period = 10, .reduction_factor = 3};

/// Reports `value` at 10, 20, … `last`, trial i one time unit after trial i − 1.
RecordedCurve Curve(int32_t trial, Steps last, double value, CurveEnd end = CurveEnd::kCut) {
  RecordedCurve curve{.trial = {trial}, .points = {}, .end = end};
  for (Steps step = 10; step <= last; step += 10) {
    curve.points.push_back({step, value, step * 1000 + trial});
  }
  return curve;
}

Hindsight Under(const StoppingRuleSpec& spec, std::vector<RecordedCurve> curves,
                BestBy best_by = BestBy::kBest) {
  return LookBack({.curves = std::move(curves), .goal = Goal::kMaximize, .best_by = best_by},
                  *MakeStoppingRule(spec, Goal::kMaximize, /*seed=*/0));
}

std::vector<Fate> Fates(const Hindsight& hindsight) {
  std::vector<Fate> fates;
  for (const TrialHindsight& trial : hindsight.trials) fates.push_back(trial.fate);
  return fates;
}

TEST(Hindsight, StopsTrialsWhereTheRuleWouldAndCountsTheStepsSaved) {
  const Hindsight seen =
      Under(kStopping, {Curve(0, 100, .6), Curve(1, 100, .5), Curve(2, 100, .7)});
  // At 10: .6 is the first, .5 is below it, .7 is above the quantile of .5 and .6.
  EXPECT_THAT(Fates(seen), ElementsAre(Fate::kCompleted, Fate::kStopped, Fate::kCompleted));
  EXPECT_EQ(seen.trials[1].steps, 10);
  EXPECT_EQ(seen.trials[1].reason, "below_cutoff");
  EXPECT_EQ(seen.trials[1].last_decision->cutoff, .6);
  EXPECT_EQ(seen.recorded_steps, 300);
  EXPECT_EQ(seen.steps, 210);
  EXPECT_EQ(seen.best, TrialNumber{2});
}

TEST(Hindsight, SaysWhereACurveEndsBeforeTheRuleWould) {
  const Hindsight seen = Under(kStopping, {Curve(0, 30, .6), Curve(1, 30, .7, CurveEnd::kCompleted),
                                           Curve(2, 30, .8, CurveEnd::kFailed), Curve(3, 0, 0)});
  EXPECT_THAT(Fates(seen), ElementsAre(Fate::kUnknown, Fate::kEnded, Fate::kEnded, Fate::kUnknown));
  EXPECT_EQ(seen.trials[0].steps, 30);
  EXPECT_EQ(seen.trials[3].steps, 0);
  EXPECT_FALSE(seen.trials[3].best_value.has_value());
}

TEST(Hindsight, FollowsTheRecordedOrderNotTheNumbers) {
  std::vector<RecordedCurve> curves{Curve(0, 100, .5), Curve(1, 100, .6)};
  for (CurvePoint& point : curves[0].points) point.time_us += 500;  // after those of trial 1
  EXPECT_THAT(Fates(Under(kStopping, curves)), ElementsAre(Fate::kStopped, Fate::kCompleted));
}

TEST(Hindsight, NobodyIsStoppedUnderFifo) {
  const Hindsight seen =
      Under(FifoSpec{}, {Curve(0, 100, .6, CurveEnd::kCompleted), Curve(1, 10, .5)});
  EXPECT_THAT(Fates(seen), ElementsAre(Fate::kEnded, Fate::kUnknown));
  EXPECT_EQ(seen.steps, seen.recorded_steps);
}

TEST(Hindsight, PromotesAsSoonAsItIsEarnedAndTrainsOnFromThePause) {
  AshaSpec spec = kStopping;
  spec.variant = AshaSpec::Variant::kPromotion;
  const Hindsight seen = Under(spec, {Curve(0, 100, .7), Curve(1, 100, .6), Curve(2, 100, .5)});
  // All pause at 10. The third entry earns trial 0 its promotion (3 div 3); it pauses at 30, and
  // since nothing has completed the drain takes it to 90 and to 100.
  EXPECT_THAT(Fates(seen), ElementsAre(Fate::kCompleted, Fate::kNotPromoted, Fate::kNotPromoted));
  EXPECT_EQ(seen.steps, 120);
  EXPECT_EQ(seen.trials[1].steps, 10);
}

TEST(Hindsight, ADrainThatRunsPastItsCurveDrainsNobodyElse) {
  AshaSpec spec = kStopping;
  spec.variant = AshaSpec::Variant::kPromotion;
  const Hindsight seen = Under(spec, {Curve(0, 20, .7), Curve(1, 100, .6)});
  EXPECT_THAT(Fates(seen), ElementsAre(Fate::kUnknown, Fate::kNotPromoted));
}

TEST(Hindsight, TheBestIsByWhatTheExperimentSays) {
  // cases.md 10, turned to maximise: by the best report B wins, by the last one A.
  const auto curve = [](int32_t trial, std::vector<double> values) {
    RecordedCurve c{.trial = {trial}, .points = {}, .end = CurveEnd::kCompleted};
    for (size_t i = 0; i < values.size(); ++i) {
      const auto step = static_cast<Steps>(i + 1);
      c.points.push_back({step, values[i], step});
    }
    return c;
  };
  const std::vector<RecordedCurve> curves{curve(0, {-9, -7, -5}), curve(1, {-10, -4, -10})};
  EXPECT_EQ(Under(FifoSpec{}, curves, BestBy::kBest).best, TrialNumber{1});
  EXPECT_EQ(Under(FifoSpec{}, curves, BestBy::kLast).best, TrialNumber{0});
  const AshaSpec three{.max_t = 3, .grace_period = 3, .reduction_factor = 2};
  EXPECT_EQ(Under(three, curves, BestBy::kMaxT).best, TrialNumber{0});
}

}  // namespace
}  // namespace rung
