#include "bench/budget_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace rung {
namespace {

class SpendBudgetTest : public testing::Test {
 protected:
  void SetUp() override {
    auto read = QualityData::Read(std::string(RUNG_SOURCE_DIR) + "/bench/data");
    ASSERT_TRUE(read.ok()) << read.status();
    data_ = *std::move(read);
  }

  QualityData data_;
};

TEST_F(SpendBudgetTest, WithoutStoppingIsAsManyFullTrialsAsFit) {
  const BudgetPlan plan = SpendBudget(data_, {"lm", 81, 8 * 81 + 80}, /*grace_period=*/81);
  EXPECT_EQ(plan.trials, 8);
  EXPECT_EQ(plan.total_steps, 30 * 8 * 81);
}

TEST_F(SpendBudgetTest, WithStoppingTriesMoreForNoMoreSteps) {
  const BudgetPlan plan = SpendBudget(data_, {"lm", 81, 8 * 81}, /*grace_period=*/9);
  EXPECT_GT(plan.trials, 8);
  EXPECT_LE(plan.total_steps, 30 * 8 * 81);
}

TEST_F(SpendBudgetTest, TakesNoMoreThanAllConfigurations) {
  const BudgetPlan plan = SpendBudget(data_, {"lm", 81, 256 * 81}, /*grace_period=*/81);
  EXPECT_EQ(plan.trials, 256);
}

}  // namespace
}  // namespace rung
