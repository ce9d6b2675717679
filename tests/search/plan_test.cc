#include "search/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr AshaSpec kSpec = {.max_t = 100, .grace_period = 10, .reduction_factor = 3};

Plan Make(const StoppingRuleSpec& rule, std::optional<int64_t> trials,
          std::optional<int64_t> concurrent = std::nullopt) {
  const absl::StatusOr<Plan> plan = MakePlan({rule, trials, concurrent});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *plan;
}

TEST(Plan, ExpectsAThirdToGoOnAtEveryLevel) {
  const Plan plan = Make(kSpec, 27);
  ASSERT_EQ(plan.brackets.size(), 1U);
  const PlannedBracket& bracket = plan.brackets[0];
  ASSERT_EQ(bracket.levels.size(), 3U);
  EXPECT_EQ(bracket.levels[2].level, 90);
  EXPECT_DOUBLE_EQ(bracket.levels[0].expected_trials, 27);
  EXPECT_DOUBLE_EQ(bracket.levels[1].expected_trials, 9);
  EXPECT_DOUBLE_EQ(bracket.levels[2].expected_trials, 3);
  EXPECT_DOUBLE_EQ(bracket.expected_completed, 1);
  EXPECT_DOUBLE_EQ(bracket.levels[1].expected_steps, 180);
  EXPECT_DOUBLE_EQ(bracket.expected_steps, 640);
  // 27 · 10 + 9 · 20 + 3 · 60 + 1 · 10 of 27 · 100.
  EXPECT_DOUBLE_EQ(plan.expected_steps.value(), 640);
  EXPECT_DOUBLE_EQ(plan.full_steps.value(), 2700);
  EXPECT_EQ(plan.max_step, 100);
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(Plan, SharesTheTrialsAmongBrackets) {
  AshaSpec spec = kSpec;
  spec.brackets = 4;
  const Plan plan = Make(spec, 49);  // weights 27, 12, 6 and 4 of 49
  ASSERT_EQ(plan.brackets.size(), 4U);
  EXPECT_NEAR(plan.brackets[1].expected_trials, 12, 1e-9);
  EXPECT_EQ(plan.brackets[1].levels.size(), 2U);
  EXPECT_THAT(plan.brackets[3].levels, IsEmpty());
  EXPECT_NEAR(plan.brackets[3].expected_completed, 4, 1e-9);
  // 640 for 27 of bracket 0; 12 · 30 + 4 · 60 + 4/3 · 10; 6 · 90 + 2 · 10; 4 · 100.
  EXPECT_NEAR(plan.expected_steps.value(), 640 + 360 + 240 + 40.0 / 3 + 540 + 20 + 400, 1e-9);
}

TEST(Plan, PromotionTakesTheFractionOfTheLastLevelToTheEnd) {
  AshaSpec spec = kSpec;
  spec.variant = AshaSpec::Variant::kPromotion;
  const Plan plan = Make(spec, 27);
  // 3 at level 90, of which 90/100 go on to 100.
  EXPECT_DOUBLE_EQ(plan.brackets[0].expected_completed, 2.7);
  EXPECT_DOUBLE_EQ(plan.expected_steps.value(), 270 + 180 + 180 + 27);
}

TEST(Plan, OfARuleWithoutLevelsHasNoBracketAndSaysWhatIsKnown) {
  const Plan fifo = Make(FifoSpec{}, 5);
  EXPECT_THAT(fifo.brackets, IsEmpty());
  EXPECT_EQ(fifo.max_step, std::nullopt);
  EXPECT_EQ(fifo.expected_steps, std::nullopt);
  EXPECT_EQ(fifo.full_steps, std::nullopt);
  const Plan median = Make(MedianSpec{.grace_period = 2, .min_rivals = 3, .max_t = 10}, 5);
  EXPECT_EQ(median.max_step, 10);
  EXPECT_EQ(median.full_steps, 50);
  EXPECT_EQ(median.expected_steps, std::nullopt);
  EXPECT_THAT(median.warnings, IsEmpty());
}

TEST(Plan, RefusesWhatTheRuleRefusesAndPlansPromotionToo) {
  AshaSpec spec = kSpec;
  spec.brackets = 5;
  EXPECT_EQ(MakePlan({spec, 27, std::nullopt}).status().code(), absl::StatusCode::kInvalidArgument);
  spec = kSpec;
  spec.variant = AshaSpec::Variant::kPromotion;
  EXPECT_TRUE(MakePlan({spec, 27, std::nullopt}).ok());
}

}  // namespace
}  // namespace rung
