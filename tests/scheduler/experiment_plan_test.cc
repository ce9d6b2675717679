#include "scheduler/experiment_plan.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

std::string PlanOf(const StoppingRuleSpec& spec, std::optional<int64_t> planned_trials) {
  return PlanJson(*MakePlan({spec, planned_trials, std::nullopt}), planned_trials);
}

TEST(ExperimentPlan, CountsTrialsAndStepsARung) {
  AshaSpec asha;
  asha.max_t = 100;
  asha.grace_period = 10;
  asha.reduction_factor = 3;
  // 27 trials run 10 steps, 9 go on to 30, 3 to 90, 1 to 100:
  // 27 * 10 + 9 * 20 + 3 * 60 + 1 * 10 = 640; without stopping 27 * 100.
  EXPECT_EQ(PlanOf(asha, 27), R"({"max_step":100,"planned_trials":27,"brackets":[{"bracket":0,)"
                              R"("expected_trials":27.0,"rungs":[)"
                              R"({"level":10,"expected_trials":27.0,"expected_steps":270.0},)"
                              R"({"level":30,"expected_trials":9.0,"expected_steps":180.0},)"
                              R"({"level":90,"expected_trials":3.0,"expected_steps":180.0}],)"
                              R"("expected_completed":1.0,"expected_steps":640.0}],)"
                              R"("expected_steps":640.0,"full_steps":2700.0})");
}

TEST(ExperimentPlan, HasEveryBracketAlsoTheOneWithoutARung) {
  // R = 2, r = 1, factor 2: level 1; brackets 0 and 1 in proportion to 1 and 2/2, so 3 each of 6.
  // Bracket 0: 3 trials run a step and half of them another; bracket 1: 3 run both.
  EXPECT_EQ(
      PlanOf(AshaSpec{.max_t = 2, .grace_period = 1, .reduction_factor = 2, .brackets = 2}, 6),
      R"({"max_step":2,"planned_trials":6,"brackets":[)"
      R"({"bracket":0,"expected_trials":3.0,"rungs":[)"
      R"({"level":1,"expected_trials":3.0,"expected_steps":3.0}],)"
      R"("expected_completed":1.5,"expected_steps":4.5},)"
      R"({"bracket":1,"expected_trials":3.0,"rungs":[],)"
      R"("expected_completed":3.0,"expected_steps":6.0}],)"
      R"("expected_steps":10.5,"full_steps":12.0})");
}

TEST(ExperimentPlan, OfTrialsWithoutANumberHasTheLevelsAlone) {
  EXPECT_EQ(PlanOf(AshaSpec{.max_t = 3, .grace_period = 1, .reduction_factor = 3}, std::nullopt),
            R"({"max_step":3,"planned_trials":null,"brackets":[{"bracket":0,)"
            R"("expected_trials":null,"rungs":[)"
            R"({"level":1,"expected_trials":null,"expected_steps":null}],)"
            R"("expected_completed":null,"expected_steps":null}],)"
            R"("expected_steps":null,"full_steps":null})");
}

TEST(ExperimentPlan, SaysNullForWhatIsNotKnown) {
  EXPECT_EQ(PlanOf(FifoSpec{}, 5),
            R"({"max_step":null,"planned_trials":5,"brackets":[],"expected_steps":null,)"
            R"("full_steps":null})");
  EXPECT_EQ(PlanOf(MedianSpec{.grace_period = 2, .min_rivals = 3, .max_t = 10}, 5),
            R"({"max_step":10,"planned_trials":5,"brackets":[],"expected_steps":null,)"
            R"("full_steps":50.0})");
}

}  // namespace
}  // namespace rung
