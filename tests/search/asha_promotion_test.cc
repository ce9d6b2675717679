#include "search/asha_promotion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/counter_random.h"
#include "tests/search/rules.h"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr AshaSpec k100 = {.max_t = 100,
                           .grace_period = 10,
                           .reduction_factor = 3,
                           .variant = AshaSpec::Variant::kPromotion};

std::vector<int32_t> Claims(const StoppingRule& rule) {
  std::vector<int32_t> claims;
  for (auto next = rule.NextPromotion(std::nullopt); next; next = rule.NextPromotion(*next)) {
    claims.push_back(next->value);
  }
  return claims;
}

/// Trials 1, 2, … report at `step`; each goes on at once if it is the next to be promoted.
std::vector<std::string> Arrive(StoppingRule& rule, Steps step, const std::vector<double>& values) {
  std::vector<std::string> words;
  for (size_t i = 0; i < values.size(); ++i) {
    const TrialNumber trial{static_cast<int32_t>(i + 1)};
    Verdict verdict = rule.OnReport({trial, step, values[i]});
    if (rule.NextPromotion(std::nullopt) == trial) {
      rule.PromoteOnArrival(Grant::kEarned, verdict);
    }
    words.push_back(std::string(ToString(verdict.decision)));
  }
  return words;
}

TEST(AshaPromotion, WorkedExampleOnArrival) {
  const auto rule = MakeRule(k100);
  // The best of 3 (trial 3), the first 2 of 6 (trials 6 and 3) and of 8 (trials 6 and 8).
  EXPECT_THAT(Arrive(*rule, 10, {.62, .55, .71, .68, .60, .74, .66, .74, .70}),
              ElementsAre("pause", "pause", "continue", "pause", "pause", "continue", "pause",
                          "continue", "pause"));
  EXPECT_THAT(Claims(*rule), IsEmpty());
  // Trials 3, 6 and 8 alone are at 30, never trial 1, which came first (cases.md 1). The best of
  // these three goes on, in place or later.
  EXPECT_EQ(rule->OnReport({{3}, 30, .78}).decision, Decision::kPause);
  EXPECT_EQ(rule->OnReport({{8}, 30, .79}).decision, Decision::kPause);
  EXPECT_THAT(Claims(*rule), IsEmpty());
  rule->OnReport({{6}, 30, .80});
  EXPECT_THAT(Claims(*rule), ElementsAre(6));
}

TEST(AshaPromotion, PromotesBestOfThreeOnce) {  // 3 · 10 div 30 = 1
  const auto rule = MakeRule(k100);
  rule->OnReport({{1}, 10, .9});
  rule->OnReport({{2}, 10, .5});
  EXPECT_THAT(Claims(*rule), IsEmpty());
  rule->OnReport({{3}, 10, .7});
  EXPECT_THAT(Claims(*rule), ElementsAre(1));
  const Verdict granted = rule->Promote({1}, Grant::kEarned);
  EXPECT_EQ(granted.decision, Decision::kContinue);
  EXPECT_THAT(Words(granted), ElementsAre("promote promoted at 10"));
  const DecisionRecord& row = granted.records[0];
  EXPECT_EQ(row.trial.value, 1);
  EXPECT_EQ(row.step, 10);
  EXPECT_EQ(row.value, .9);
  EXPECT_EQ(row.n_before, 2);
  EXPECT_EQ(row.entries, 3);
  EXPECT_EQ(row.rank, 1);
  EXPECT_FALSE(row.cutoff.has_value());
  EXPECT_EQ(row.rule, "asha.promotion");
  EXPECT_THAT(Claims(*rule), IsEmpty());
}

TEST(AshaPromotion, RecordsWhyATrialPauses) {
  const auto rule = MakeRule(k100);
  const Verdict first = rule->OnReport({{1}, 10, .5});
  EXPECT_EQ(first.decision, Decision::kPause);
  EXPECT_THAT(Words(first), ElementsAre("pause below_top at 10"));
  EXPECT_EQ(first.records[0].n_before, 0);
  EXPECT_EQ(first.records[0].entries, 1);
  EXPECT_EQ(first.records[0].rank, 1);
  rule->OnReport({{2}, 10, .4});
  EXPECT_THAT(Words(rule->OnReport({{3}, 10, .6})), ElementsAre("pause awaits_resources at 10"));
}

TEST(AshaPromotion, OnArrivalTheEntryContinuesAndTheGrantFollows) {
  const auto rule = MakeRule(k100);
  Arrive(*rule, 10, {.1, .2});
  Verdict verdict = rule->OnReport({{3}, 10, .3});
  rule->PromoteOnArrival(Grant::kEarned, verdict);
  EXPECT_EQ(verdict.decision, Decision::kContinue);
  EXPECT_EQ(verdict.reason, "promoted_on_arrival");
  EXPECT_THAT(Words(verdict), ElementsAre("continue promoted_on_arrival at 10",
                                          "promote promoted_on_arrival at 10"));
  EXPECT_EQ(verdict.records[1].n_before, verdict.records[0].n_before);
  EXPECT_EQ(verdict.records[1].entries, verdict.records[0].entries);
  EXPECT_EQ(verdict.records[1].rank, verdict.records[0].rank);
  // Passing the level again, after a loss, gives continue and no row.
  const Verdict again = rule->OnReport({{3}, 10, .2});
  EXPECT_EQ(again.decision, Decision::kContinue);
  EXPECT_THAT(Words(again), IsEmpty());
}

TEST(AshaPromotion, AmongEqualsTheLowerNumbersAreFirst) {
  const auto rule = MakeRule(k100);
  for (int32_t trial = 6; trial >= 1; --trial) rule->OnReport({{trial}, 10, .5});
  EXPECT_THAT(Claims(*rule), ElementsAre(1, 2));  // 6 div 3
}

TEST(AshaPromotion, TheLastRungPromotesTheFractionLevelByMaxT) {
  const auto rule = MakeRule(k100);
  // n · 90 div 100: none of 1, 1 of 2, …, 8 of 9, 9 of 10.
  for (int32_t trial = 1; trial <= 10; ++trial) {
    rule->OnReport({{trial}, 90, 1.0 / trial});
    EXPECT_EQ(Claims(*rule).size(), static_cast<size_t>(trial - 1)) << trial;
  }
}

TEST(AshaPromotion, HugeLevelsDoNotOverflow) {
  const auto rule = MakeRule(AshaSpec{.max_t = 1'000'000'000'000,
                                      .grace_period = 900'000'000'000,
                                      .reduction_factor = 2,
                                      .variant = AshaSpec::Variant::kPromotion});
  for (int32_t trial = 0; trial < 20; ++trial) rule->OnReport({{trial}, 900'000'000'000, 1.0});
  EXPECT_EQ(Claims(*rule).size(), 18U);  // 20 · 9 div 10
}

TEST(AshaPromotion, TheHighestRungComesFirstThenTheLowerBracket) {
  AshaSpec spec = k100;
  spec.brackets = 2;
  const auto rule = MakeRule(spec);
  std::vector<std::vector<TrialNumber>> of(2);
  for (int32_t number = 0; of[0].size() < 9 || of[1].size() < 3; ++number) {
    of.at(static_cast<size_t>(rule->BracketOf({number}))).push_back({number});
  }
  for (size_t i = 0; i < 6; ++i) rule->OnReport({of[0][i], 10, .1 * static_cast<double>(i)});
  for (size_t i = 0; i < 3; ++i) rule->OnReport({of[1][i], 30, .5});
  for (size_t i = 6; i < 9; ++i) rule->OnReport({of[0][i], 30, .5});
  EXPECT_THAT(Claims(*rule), ElementsAre(of[0][6].value, of[1][0].value,  // at 30
                                         of[0][5].value, of[0][4].value));
}

TEST(AshaPromotion, AFailedTrialIsNotPromotedUnlessItWas) {
  const auto rule = MakeRule(k100);
  for (int32_t trial = 1; trial <= 6; ++trial) rule->OnReport({{trial}, 10, .1 * trial});
  EXPECT_THAT(Claims(*rule), ElementsAre(6, 5));
  rule->Promote({6}, Grant::kEarned);
  rule->OnTrialEnded({6}, TrialState::kFailed);  // keeps its place among the first two
  EXPECT_THAT(Claims(*rule), ElementsAre(5));
  rule->OnTrialEnded({5}, TrialState::kCancelled);  // gives its place to trial 4
  EXPECT_THAT(Claims(*rule), ElementsAre(4));
  // Its entry still counts in n, n_before and the ranks.
  const Verdict next = rule->OnReport({{7}, 10, .15});
  EXPECT_EQ(next.records[0].n_before, 6);
  EXPECT_EQ(next.records[0].rank, 6);
}

TEST(AshaPromotion, DrainsTheBestOfTheHighestRung) {
  const auto rule = MakeRule(k100);
  EXPECT_FALSE(rule->NextDrain().has_value());
  rule->OnReport({{1}, 10, .9});
  rule->OnReport({{2}, 10, .95});
  rule->OnReport({{3}, 30, .1});
  EXPECT_EQ(rule->NextDrain()->value, 3);
  EXPECT_THAT(Words(rule->Promote({3}, Grant::kDrain)), ElementsAre("promote drain at 30"));
  EXPECT_EQ(rule->NextDrain()->value, 2);
  Verdict arrived = rule->OnReport({{3}, 90, .1});
  rule->PromoteOnArrival(Grant::kDrain, arrived);
  EXPECT_THAT(Words(arrived), ElementsAre("continue drain at 90", "promote drain at 90"));
  const Verdict end = rule->OnReport({{3}, 100, .1});
  EXPECT_TRUE(end.trial_completed);
  EXPECT_EQ(end.reason, "max_t");
}

TEST(AshaPromotion, SkippedLevelsAreNeverFilled) {
  const auto rule = MakeRule(k100);
  EXPECT_THAT(Words(rule->OnReport({{1}, 35, .5})),
              ElementsAre("skipped at 10", "pause below_top at 30"));
  EXPECT_EQ(rule->OnReport({{2}, 10, .4}).records[0].entries, 1);
  const Verdict over = rule->OnReport({{3}, 120, .4});
  EXPECT_THAT(Words(over), ElementsAre("skipped at 10", "skipped at 30", "skipped at 90"));
  EXPECT_TRUE(over.trial_completed);
}

TEST(AshaPromotion, NonFiniteStopEndsATrialAndCountsInN) {
  const auto rule = MakeRule(k100);
  EXPECT_THAT(Words(rule->OnReport({{1}, 3, kNan})), ElementsAre("stop non_finite at 10"));
  EXPECT_EQ(rule->OnReport({{1}, 4, .5}).decision, Decision::kStop);
  rule->OnReport({{2}, 10, .5});
  const Verdict third = rule->OnReport({{3}, 10, .6});
  EXPECT_EQ(third.records[0].n_before, 1);
  EXPECT_EQ(third.records[0].entries, 3);
  EXPECT_THAT(Claims(*rule), ElementsAre(3));  // 3 entries, the loser's included
}

TEST(AshaPromotion, NonFiniteWorstPausesAndIsNeverPromoted) {
  AshaSpec spec = k100;
  spec.non_finite = AshaSpec::NonFinite::kWorst;
  const auto rule = MakeRule(spec);
  EXPECT_EQ(rule->OnReport({{1}, 3, kNan}).decision, Decision::kContinue);
  const Verdict paused = rule->OnReport({{1}, 10, kNan});
  EXPECT_EQ(paused.decision, Decision::kPause);
  EXPECT_THAT(Words(paused), ElementsAre("pause non_finite at 10"));
  EXPECT_FALSE(paused.records[0].rank.has_value());
  EXPECT_FALSE(rule->NextDrain().has_value());
  EXPECT_TRUE(rule->OnReport({{2}, 100, kNan}).trial_completed);
}

TEST(AshaPromotion, NonFiniteIgnoreIsAReportWithoutTheObjective) {
  AshaSpec spec = k100;
  spec.non_finite = AshaSpec::NonFinite::kIgnore;
  const auto rule = MakeRule(spec);
  EXPECT_THAT(Words(rule->OnReport({{1}, 10, kNan})), IsEmpty());
  EXPECT_THAT(Words(rule->OnReport({{1}, 11, .5})), ElementsAre("pause below_top at 10"));
}

TEST(AshaPromotion, ReportsAfterAPauseAreJudgedWhenTheTrialIsPromoted) {
  const auto rule = MakeRule(k100);
  rule->OnReport({{1}, 10, .9});
  for (const Steps step : {11, 29, 32, 40, 91, 95, 101}) {
    const Verdict late = rule->OnReport({{1}, step, .01 * static_cast<double>(step)});
    EXPECT_EQ(late.decision, Decision::kPause);
    EXPECT_THAT(Words(late), IsEmpty());
  }
  // The first at or past 30 is that of 32; the first past that at or past 90 is 91; then 101.
  const Verdict at_30 = rule->Promote({1}, Grant::kDrain);
  EXPECT_EQ(at_30.decision, Decision::kPause);
  EXPECT_THAT(Words(at_30), ElementsAre("promote drain at 10", "pause below_top at 30"));
  EXPECT_EQ(at_30.records[1].step, 32);
  EXPECT_EQ(at_30.records[1].value, .32);
  const Verdict at_90 = rule->Promote({1}, Grant::kDrain);
  EXPECT_THAT(Words(at_90), ElementsAre("promote drain at 30", "pause below_top at 90"));
  EXPECT_EQ(at_90.records[1].step, 91);
  const Verdict end = rule->Promote({1}, Grant::kDrain);
  EXPECT_THAT(Words(end), ElementsAre("promote drain at 90"));
  EXPECT_EQ(end.decision, Decision::kStop);
  EXPECT_EQ(end.reason, "max_t");
  EXPECT_TRUE(end.trial_completed);
}

TEST(AshaPromotion, ALateNanBetweenLevelsDecidesNothingAndAtOneStops) {
  const auto rule = MakeRule(k100);
  rule->OnReport({{1}, 10, .9});
  rule->OnReport({{1}, 12, kNan});
  EXPECT_EQ(rule->Promote({1}, Grant::kDrain).decision, Decision::kContinue);
  rule->OnReport({{2}, 10, .9});
  rule->OnReport({{2}, 30, kNan});
  const Verdict stopped = rule->Promote({2}, Grant::kDrain);
  EXPECT_EQ(stopped.decision, Decision::kStop);
  EXPECT_THAT(Words(stopped), ElementsAre("promote drain at 10", "stop non_finite at 30"));
}

TEST(AshaPromotion, BadSettingsAreRefusedWithTheirPath) {
  const auto message = [](AshaSpec spec) {
    const auto rule = MakeStoppingRule(spec, Goal::kMaximize, 0);
    EXPECT_EQ(rule.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(rule.status().message());
  };
  AshaSpec spec = k100;
  spec.cut = AshaSpec::Cut::kTop;
  EXPECT_THAT(message(spec), HasSubstr("scheduler.asha.cut: variant \"promotion\" has no cut"));
  spec = k100;
  spec.min_rivals = 2;
  EXPECT_THAT(message(spec), HasSubstr("scheduler.asha.min_rivals: must be 0"));
  spec = k100;
  spec.brackets = 5;
  EXPECT_THAT(message(spec), HasSubstr("scheduler.asha.brackets: must lie in 1 … 4"));
}

}  // namespace
}  // namespace rung
