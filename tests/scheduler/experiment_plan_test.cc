#include "scheduler/experiment_plan.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

std::string PlanOf(const StoppingRuleSpec& spec, std::optional<int64_t> planned_trials) {
  return PlanJson(spec, **MakeStoppingRule(spec, Goal::kMinimize, 0), planned_trials);
}

TEST(ExperimentPlan, CountsTrialsAndStepsARung) {
  AshaSpec asha;
  asha.max_t = 100;
  asha.grace_period = 10;
  asha.reduction_factor = 3;
  // 27 trials run 10 steps, 9 go on to 30, 3 to 90, 1 to 100:
  // 27 * 10 + 9 * 20 + 3 * 60 + 1 * 10 = 640; without stopping 27 * 100.
  EXPECT_EQ(PlanOf(asha, 27),
            R"({"max_step":100,"planned_trials":27,"brackets":[{"bracket":0,"rungs":[)"
            R"({"level":10,"expected_trials":27.0},{"level":30,"expected_trials":9.0},)"
            R"({"level":90,"expected_trials":3.0}]}],"expected_steps":640.0,"full_steps":2700})");
}

TEST(ExperimentPlan, SaysNullForWhatIsNotKnown) {
  EXPECT_EQ(PlanOf(FifoSpec{}, 5),
            R"({"max_step":null,"planned_trials":5,"brackets":[],"expected_steps":null,)"
            R"("full_steps":null})");
}

}  // namespace
}  // namespace rung
