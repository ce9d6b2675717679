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
  // 27 · 10 + 9 · 20 + 3 · 60 + 1 · 10 of 27 · 100.
  EXPECT_DOUBLE_EQ(plan.expected_steps, 640);
  EXPECT_DOUBLE_EQ(plan.full_steps, 2700);
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
  EXPECT_NEAR(plan.expected_steps, 640 + 360 + 240 + 40.0 / 3 + 540 + 20 + 400, 1e-9);
}

TEST(Plan, OfFifoHasNoLevelsAndNoEnd) {
  const Plan plan = Make(FifoSpec{}, 5);
  ASSERT_EQ(plan.brackets.size(), 1U);
  EXPECT_THAT(plan.brackets[0].levels, IsEmpty());
  EXPECT_EQ(plan.max_step, std::nullopt);
  EXPECT_EQ(plan.expected_steps, 0);
}

TEST(Plan, WarnsOfSettingsThatCannotWork) {
  EXPECT_THAT(Make(AshaSpec{.max_t = 10, .grace_period = 10, .reduction_factor = 3}, 27).warnings,
              ElementsAre(HasSubstr("no level below it")));
  EXPECT_THAT(Make(kSpec, 2).warnings, ElementsAre(HasSubstr("fewer than reduction_factor 3")));
  EXPECT_THAT(Make(AshaSpec{.max_t = 91, .grace_period = 10, .reduction_factor = 3}, 27).warnings,
              ElementsAre(HasSubstr("The last level 90 is within 5 % of max_t 91")));
  AshaSpec spec = kSpec;
  spec.min_rivals = 27;
  EXPECT_THAT(Make(spec, 27).warnings, ElementsAre(HasSubstr("min_rivals 27 is not below")));
  EXPECT_THAT(Make(kSpec, 27, 32).warnings, ElementsAre(HasSubstr("slots stay idle")));
  EXPECT_THAT(Make(kSpec, 27, 27).warnings, ElementsAre(HasSubstr("All 27 trials run at once")));
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
