#include "search/plan_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr AshaSpec kSpec = {.max_t = 100, .grace_period = 10, .reduction_factor = 3};
constexpr MedianSpec kMedian = {.grace_period = 2, .min_rivals = 3, .max_t = std::nullopt};

std::vector<std::string> Warnings(const StoppingRuleSpec& rule, std::optional<int64_t> trials,
                                  std::optional<int64_t> concurrent = std::nullopt) {
  const absl::StatusOr<Plan> plan = MakePlan({rule, trials, concurrent});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan->warnings;
}

TEST(PlanWarnings, OrdinarySettingsHaveNone) {
  EXPECT_THAT(Warnings(kSpec, 27), IsEmpty());
  EXPECT_THAT(Warnings(kSpec, 27, 4), IsEmpty());
  EXPECT_THAT(Warnings(kSpec, std::nullopt, 4), IsEmpty());
  EXPECT_THAT(Warnings(FifoSpec{}, 4, 4), IsEmpty());
  EXPECT_THAT(Warnings(kMedian, 27, 4), IsEmpty());
}

TEST(PlanWarnings, NameLevelsWhereNothingCanBeStopped) {
  EXPECT_THAT(Warnings(AshaSpec{.max_t = 10, .grace_period = 10, .reduction_factor = 3}, 27),
              ElementsAre(HasSubstr("no level below it")));
  EXPECT_THAT(Warnings(AshaSpec{.max_t = 91, .grace_period = 10, .reduction_factor = 3}, 27),
              ElementsAre(HasSubstr("The last level 90 is within 5 % of max_t 91")));
  EXPECT_THAT(Warnings(MedianSpec{.grace_period = 10, .min_rivals = 3, .max_t = 10}, 27),
              ElementsAre(HasSubstr("grace_period 10 is max_t")));
}

TEST(PlanWarnings, NameRungsThatCannotFill) {
  EXPECT_THAT(Warnings(kSpec, 2), ElementsAre(HasSubstr("fewer than reduction_factor 3")));
  AshaSpec spec = kSpec;
  spec.min_rivals = 27;
  EXPECT_THAT(Warnings(spec, 27), ElementsAre(HasSubstr("min_rivals 27 is not below")));
  EXPECT_THAT(Warnings(kMedian, 3),
              ElementsAre(HasSubstr("min_rivals 3 is not below the number of trials 3")));
}

TEST(PlanWarnings, NameBracketsThatGetTooFewTrials) {
  AshaSpec spec = kSpec;
  spec.brackets = 4;  // weights 27, 12, 6 and 4 of 49
  EXPECT_THAT(Warnings(spec, 10),
              ElementsAre(HasSubstr("Bracket 1 is expected to get 2.4 of 10 trials"),
                          HasSubstr("Bracket 2 is expected to get 1.2 of 10 trials"),
                          HasSubstr("Bracket 3, which has no rung, is expected to get 0.8 of 10")));
}

TEST(PlanWarnings, NameTheRungFromWhichNobodyIsPromoted) {
  AshaSpec spec = kSpec;
  spec.variant = AshaSpec::Variant::kPromotion;
  // 3 at level 10, ⌊3 · 10 / 30⌋ = 1 at 30, ⌊1 · 30 / 90⌋ = 0.
  EXPECT_THAT(Warnings(spec, 3),
              ElementsAre("Bracket 0: with 1 of its trials at level 30 none has earned level 90 "
                          "(it takes 3): only at the experiment's end is the best one taken on."));
  // 9, 3, 1, ⌊1 · 90 / 100⌋ = 0.
  EXPECT_THAT(Warnings(spec, 9), ElementsAre(HasSubstr("at level 90 none has earned level 100")));
  EXPECT_THAT(Warnings(spec, 27), IsEmpty());
}

TEST(PlanWarnings, NameMoreSlotsThanTrials) {
  EXPECT_THAT(Warnings(kSpec, 27, 32), ElementsAre(HasSubstr("slots stay idle")));
  EXPECT_THAT(Warnings(FifoSpec{}, 4, 5), ElementsAre(HasSubstr("slots stay idle")));
  EXPECT_THAT(Warnings(kSpec, 27, 27), ElementsAre(HasSubstr("All 27 trials run at once")));
  EXPECT_THAT(Warnings(kMedian, 27, 27), ElementsAre(HasSubstr("All 27 trials run at once")));
}

}  // namespace
}  // namespace rung
