#include "bench/virtual_tuner.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "search/fifo.h"

namespace rung {
namespace {

const std::vector<size_t> kOrder{0, 1, 2};

TEST(VirtualTuner, RunsEveryTrialToTheEndWithoutStopping) {
  const std::vector<LearningCurve> curves{{.step_ms = 10, .values = {5, 4}, .true_micro = {}},
                                          {.step_ms = 20, .values = {5, 3}, .true_micro = {}},
                                          {.step_ms = 5, .values = {1, 6}, .true_micro = {}}};
  Fifo rule;
  VirtualTuner tuner(curves, kOrder, {.trials = 3, .workers = 2, .max_t = 2}, rule);
  const TunerResult result = tuner.Run();
  // Trial 0 ends at 20, and its worker takes trial 2 until 30; trial 1 ends at 40.
  EXPECT_EQ(result.steps, 6);
  EXPECT_EQ(result.makespan_ms, 40);
  EXPECT_EQ(result.completed, 3);
  EXPECT_EQ(result.selected.value, 1);
}

TEST(VirtualTuner, FreesTheWorkerOfAStoppedTrial) {
  const std::vector<LearningCurve> curves{{.step_ms = 10, .values = {5, 5, 5}, .true_micro = {}},
                                          {.step_ms = 10, .values = {6, 1, 1}, .true_micro = {}},
                                          {.step_ms = 10, .values = {4, 4, 4}, .true_micro = {}}};
  const auto rule = MakeStoppingRule(AshaSpec{.max_t = 3, .grace_period = 1, .reduction_factor = 2},
                                     Goal::kMinimize, /*seed=*/0);
  ASSERT_TRUE(rule.ok());
  VirtualTuner tuner(curves, kOrder, {.trials = 3, .workers = 1, .max_t = 3}, **rule);
  const TunerResult result = tuner.Run();
  // Trial 1 is worse than the only earlier value at level 1, and never shows that it would win.
  EXPECT_EQ(result.steps, 3 + 1 + 3);
  EXPECT_EQ(result.makespan_ms, 70);
  EXPECT_EQ(result.completed, 2);
  EXPECT_EQ(result.selected.value, 2);
}

TEST(VirtualTuner, TakesStepsThatEndTogetherAsTheyWereScheduled) {
  const std::vector<LearningCurve> curves{{.step_ms = 10, .values = {2, 2}, .true_micro = {}},
                                          {.step_ms = 10, .values = {1, 1}, .true_micro = {}},
                                          {.step_ms = 10, .values = {3, 3}, .true_micro = {}}};
  const auto rule = MakeStoppingRule(AshaSpec{.max_t = 2, .grace_period = 1, .reduction_factor = 2},
                                     Goal::kMinimize, /*seed=*/0);
  ASSERT_TRUE(rule.ok());
  VirtualTuner tuner(curves, kOrder, {.trials = 3, .workers = 3, .max_t = 2}, **rule);
  const TunerResult result = tuner.Run();
  // All report at 10: trial 0 first, without rivals, then the better 1, then the worse 2.
  EXPECT_EQ(result.steps, 2 + 2 + 1);
  EXPECT_EQ(result.completed, 2);
}

TEST(VirtualTuner, ResumesAPromotedTrialWhereItPaused) {
  const std::vector<LearningCurve> curves{{.step_ms = 10, .values = {3, 3, 3}, .true_micro = {}},
                                          {.step_ms = 10, .values = {1, 1, 1}, .true_micro = {}},
                                          {.step_ms = 10, .values = {2, 2, 2}, .true_micro = {}}};
  const auto rule = MakeStoppingRule(AshaSpec{.max_t = 3,
                                              .grace_period = 1,
                                              .reduction_factor = 3,
                                              .variant = AshaSpec::Variant::kPromotion},
                                     Goal::kMinimize, /*seed=*/0);
  ASSERT_TRUE(rule.ok());
  VirtualTuner tuner(curves, kOrder, {.trials = 3, .workers = 1, .max_t = 3}, **rule);
  const TunerResult result = tuner.Run();
  // All pause at 1; then 3 div 3 = 1 of them, trial 1, goes on with steps 2 and 3.
  EXPECT_EQ(result.steps, 3 + 2);
  EXPECT_EQ(result.makespan_ms, 50);
  EXPECT_EQ(result.completed, 1);
  EXPECT_EQ(result.selected.value, 1);
}

TEST(VirtualTuner, DrainsWhenNothingIsLeftToRun) {
  const std::vector<LearningCurve> curves{{.step_ms = 10, .values = {3, 3, 3}, .true_micro = {}},
                                          {.step_ms = 10, .values = {1, 1, 1}, .true_micro = {}}};
  const auto rule = MakeStoppingRule(AshaSpec{.max_t = 3,
                                              .grace_period = 1,
                                              .reduction_factor = 3,
                                              .variant = AshaSpec::Variant::kPromotion},
                                     Goal::kMinimize, /*seed=*/0);
  ASSERT_TRUE(rule.ok());
  VirtualTuner tuner(curves, std::span(kOrder).first(2), {.trials = 2, .workers = 2, .max_t = 3},
                     **rule);
  const TunerResult result = tuner.Run();
  // The rung at 1 promotes 2 div 3 = 0 of its two entries, so the better one is taken to the end.
  EXPECT_EQ(result.steps, 2 + 2);
  EXPECT_EQ(result.completed, 1);
  EXPECT_EQ(result.selected.value, 1);
}

}  // namespace
}  // namespace rung
