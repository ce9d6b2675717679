#include "bench/budget_plan.h"

#include <gtest/gtest.h>

#include "tests/bench/recorded_data.h"

namespace rung {
namespace {

TEST(SpendBudget, WithoutStoppingIsAsManyFullTrialsAsFit) {
  const BudgetPlan plan = SpendBudget(RecordedData(), {"lm", 81, 8 * 81 + 80}, /*grace_period=*/81);
  EXPECT_EQ(plan.trials, 8);
  EXPECT_EQ(plan.total_steps, 30 * 8 * 81);
}

TEST(SpendBudget, WithStoppingTriesMoreForNoMoreSteps) {
  const BudgetPlan plan = SpendBudget(RecordedData(), {"lm", 81, 8 * 81}, /*grace_period=*/9);
  EXPECT_GT(plan.trials, 8);
  EXPECT_LE(plan.total_steps, 30 * 8 * 81);
}

TEST(SpendBudget, TakesNoMoreThanAllConfigurations) {
  const BudgetPlan plan = SpendBudget(RecordedData(), {"lm", 81, 256 * 81}, /*grace_period=*/1);
  EXPECT_EQ(plan.trials, 256);
}

}  // namespace
}  // namespace rung
