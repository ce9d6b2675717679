#include "search/asha_stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/counter_random.h"
#include "search/levels.h"
#include "tests/search/rules.h"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

AshaSpec Spec100() { return {.max_t = 100, .grace_period = 10, .reduction_factor = 3}; }

/// The records of values reported at step 10 by trials 1, 2, …
std::vector<DecisionRecord> AtTen(StoppingRule& rule, const std::vector<double>& values) {
  std::vector<DecisionRecord> records;
  for (size_t i = 0; i < values.size(); ++i) {
    const Verdict verdict = rule.OnReport({{static_cast<int32_t>(i + 1)}, /*step=*/10, values[i]});
    records.insert(records.end(), verdict.records.begin(), verdict.records.end());
  }
  return records;
}

const std::vector<double> kNine = {.62, .55, .71, .68, .60, .74, .66, .74, .70};

TEST(AshaStopping, WorkedExampleWithTheQuantile) {
  const auto rule = MakeRule(Spec100());
  const std::vector<DecisionRecord> records = AtTen(*rule, kNine);
  ASSERT_EQ(records.size(), 9U);
  std::vector<std::string> decisions;
  for (const DecisionRecord& record : records) decisions.push_back(record.decision);
  EXPECT_THAT(decisions, ElementsAre("continue", "stop", "continue", "continue", "stop", "continue",
                                     "stop", "continue", "continue"));
  // The table of the rules, to its four digits.
  const std::vector<double> cutoffs = {0, .62, .5967, .65, .68, .66, .69, .68, .70};
  EXPECT_FALSE(records[0].cutoff.has_value());
  EXPECT_EQ(records[0].reason, "no_rivals");
  for (size_t i = 1; i < 9; ++i) EXPECT_NEAR(*records[i].cutoff, cutoffs[i], 5e-5) << i;
  EXPECT_EQ(records[8].reason, "equal_to_cutoff");
  // .70 is fourth of the nine: behind .74, .74 and .71.
  EXPECT_EQ(records[8].rank, 4);
  EXPECT_EQ(records[8].n_before, 8);
  EXPECT_EQ(records[8].entries, 9);
}

TEST(AshaStopping, WorkedExampleWithTheTop) {
  AshaSpec spec = Spec100();
  spec.cut = AshaSpec::Cut::kTop;
  const auto rule = MakeRule(spec);
  std::vector<std::string> decisions;
  for (const DecisionRecord& record : AtTen(*rule, kNine)) decisions.push_back(record.decision);
  EXPECT_THAT(decisions, ElementsAre("continue", "stop", "continue", "stop", "stop", "continue",
                                     "stop", "continue", "stop"));
}

TEST(AshaStopping, FirstArrivalSaysSoAtEveryLevel) {
  const auto rule = MakeRule(Spec100());
  const RuleReport first{{1}, 10, .62};
  EXPECT_THAT(Words(rule->OnReport(first)), ElementsAre("continue no_rivals at 10"));
  AtTen(*rule, {});
  rule->OnReport({{3}, 10, .71});
  EXPECT_THAT(Words(rule->OnReport({{1}, 30, .70})), ElementsAre("continue no_rivals at 30"));
  EXPECT_THAT(Words(rule->OnReport({{1}, 90, .72})), ElementsAre("continue no_rivals at 90"));
}

TEST(AshaStopping, TooFewRivalsIsAReasonToContinue) {
  AshaSpec spec = Spec100();
  spec.min_rivals = 3;
  const auto rule = MakeRule(spec);
  // Trials 1 to 3 have 0, 1 and 2 earlier values; .4 is below the quantile of .5 .6 .7 (0.6333).
  std::vector<std::string> words;
  for (const DecisionRecord& record : AtTen(*rule, {.5, .4, .3, .4}))
    words.push_back(Words(record));
  EXPECT_THAT(words, ElementsAre("continue no_rivals at 10", "continue few_rivals at 10",
                                 "continue few_rivals at 10", "stop below_cutoff at 10"));
}

TEST(AshaStopping, DecidesExactlyAtTheLevels) {
  const auto rule = MakeRule(AshaSpec{.max_t = 100, .grace_period = 2, .reduction_factor = 2});
  std::vector<Steps> decided;
  for (Steps step = 1; step <= 9; ++step) {
    for (const DecisionRecord& record : rule->OnReport({{0}, step, 1.0}).records) {
      EXPECT_EQ(record.level, step);
      decided.push_back(step);
    }
  }
  EXPECT_THAT(decided, ElementsAre(2, 4, 8));
}

TEST(AshaStopping, MoreBracketsThanLevelsAndOneAreRefused) {
  AshaSpec spec = Spec100();
  spec.brackets = 4;
  EXPECT_TRUE(MakeStoppingRule(spec, Goal::kMaximize, 0).ok());
  spec.brackets = 5;  // levels 10, 30, 90
  const auto refused = MakeStoppingRule(spec, Goal::kMaximize, 0);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()),
              ::testing::StartsWith("scheduler.asha.brackets: must lie in 1 … 4"));
}

TEST(AshaStopping, BadSettingsAreRefusedWithTheirPath) {
  const auto message = [](AshaSpec spec) {
    const auto rule = MakeStoppingRule(spec, Goal::kMaximize, 0);
    EXPECT_EQ(rule.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(rule.status().message());
  };
  EXPECT_THAT(message({.max_t = 0, .grace_period = 1, .reduction_factor = 3}),
              ::testing::HasSubstr("scheduler.asha.max_t"));
  EXPECT_THAT(message({.max_t = 10, .grace_period = 0, .reduction_factor = 3}),
              ::testing::HasSubstr("scheduler.asha.grace_period"));
  EXPECT_THAT(message({.max_t = 10, .grace_period = 11, .reduction_factor = 3}),
              ::testing::HasSubstr("1 … max_t (10), found 11"));
  EXPECT_THAT(message({.max_t = 10, .grace_period = 1, .reduction_factor = 1}),
              ::testing::HasSubstr("scheduler.asha.reduction_factor"));
  EXPECT_THAT(message({.max_t = 10, .grace_period = 1, .reduction_factor = 3, .min_rivals = -1}),
              ::testing::HasSubstr("scheduler.asha.min_rivals"));
}

TEST(AshaStopping, OvershootSkipsTheLevelsAndEndsTheTrial) {
  const auto rule =
      MakeRule(AshaSpec{.max_t = 9, .grace_period = 4, .reduction_factor = 2});  // 4, 8
  const Verdict verdict = rule->OnReport({{0}, 9, 0.5});
  EXPECT_THAT(Words(verdict), ElementsAre("skipped at 4", "skipped at 8"));
  EXPECT_EQ(verdict.decision, Decision::kStop);
  EXPECT_EQ(verdict.reason, "max_t");
  EXPECT_TRUE(verdict.trial_completed);
  // The others are not blocked, and what was skipped is no rival to them.
  EXPECT_THAT(Words(rule->OnReport({{1}, 4, 0.1})), ElementsAre("continue no_rivals at 4"));
}

TEST(AshaStopping, OnlyTheHighestLevelPassedIsDecidedAndTheOthersAreNeverFilled) {
  const auto rule = MakeRule(Spec100());
  rule->OnReport({{0}, 10, 0.1});
  const Verdict verdict = rule->OnReport({{1}, 35, 0.9});
  EXPECT_THAT(Words(verdict), ElementsAre("skipped at 10", "continue no_rivals at 30"));
  EXPECT_EQ(verdict.records[0].n_before, 1);
  EXPECT_EQ(verdict.records[0].entries, 1);  // trial 0 alone
  EXPECT_FALSE(verdict.records[0].rank.has_value());
  EXPECT_THAT(Words(rule->OnReport({{1}, 40, 0.9})), IsEmpty());
  // 0.5 meets 0.1 alone at level 10.
  EXPECT_EQ(rule->OnReport({{2}, 10, 0.5}).records[0].n_before, 1);
}

TEST(AshaStopping, EqualValuesAllContinueAndTheRecordsSaySo) {
  const auto rule = MakeRule(Spec100());
  std::vector<std::string> words;
  for (const DecisionRecord& record : AtTen(*rule, std::vector<double>(6, 0.5))) {
    words.push_back(Words(record));
    EXPECT_EQ(record.rank, record.trial.value);  // among equals the lower number is better
  }
  EXPECT_THAT(words,
              ElementsAre("continue no_rivals at 10", "continue equal_to_cutoff at 10",
                          "continue equal_to_cutoff at 10", "continue equal_to_cutoff at 10",
                          "continue equal_to_cutoff at 10", "continue equal_to_cutoff at 10"));
}

TEST(AshaStopping, MinimizeKeepsTheUsersSign) {
  const auto rule = MakeRule(Spec100(), Goal::kMinimize);
  const std::vector<DecisionRecord> records = AtTen(*rule, {.9, 1.2, .8, 1.0, .7});
  std::vector<std::string> decisions;
  for (const DecisionRecord& record : records) decisions.push_back(record.decision);
  // 1.2 is worse than .9; .8 better than the lower third of (.9, 1.2), which is 1.0; 1.0 worse than
  // that of (.8, .9, 1.2), .8667; .7 better than all.
  EXPECT_THAT(decisions, ElementsAre("continue", "stop", "continue", "stop", "continue"));
  EXPECT_EQ(records[1].cutoff, .9);
  EXPECT_EQ(records[1].value, 1.2);
  EXPECT_NEAR(*records[3].cutoff, .8667, 5e-5);
}

TEST(AshaStopping, MirroredStreamsDecideAlike) {
  for (const AshaSpec::Cut cut : {AshaSpec::Cut::kQuantile, AshaSpec::Cut::kTop}) {
    AshaSpec spec = Spec100();
    spec.cut = cut;
    spec.brackets = 3;
    const auto up = MakeRule(spec, Goal::kMaximize);
    const auto down = MakeRule(spec, Goal::kMinimize);
    CounterRandom random({.seed = 5, .trial = {0}, .redraw = 0, .name = "mirror"});
    for (int i = 0; i < 3000; ++i) {
      const TrialNumber trial{static_cast<int32_t>(random.NextBelow(300))};
      const auto step = static_cast<Steps>(random.NextBelow(110));
      const double value = static_cast<double>(random.NextBelow(50)) / 7;
      const Verdict a = up->OnReport({trial, step, value});
      const Verdict b = down->OnReport({trial, step, -value});
      ASSERT_EQ(a.decision, b.decision);
      ASSERT_EQ(a.reason, b.reason);
      ASSERT_EQ(a.records.size(), b.records.size());
      for (size_t k = 0; k < a.records.size(); ++k) {
        ASSERT_EQ(a.records[k].rank, b.records[k].rank);
        ASSERT_EQ(a.records[k].reason, b.records[k].reason);
        ASSERT_EQ(a.records[k].cutoff.has_value(), b.records[k].cutoff.has_value());
        ASSERT_EQ(a.records[k].cutoff.value_or(0), -b.records[k].cutoff.value_or(0));
      }
    }
  }
}

TEST(AshaStopping, NanTrialsStopAtOnceAndDisturbNobody) {
  const auto rule = MakeRule(Spec100());
  const auto clean = MakeRule(Spec100());
  const std::vector<DecisionRecord> records = AtTen(*rule, {kNan, .9, kNan, .1, .95});
  const std::vector<DecisionRecord> others = AtTen(*clean, {.9, .1, .95});
  EXPECT_EQ(Words(records[0]), "stop non_finite at 10");
  EXPECT_EQ(Words(records[2]), "stop non_finite at 10");
  EXPECT_FALSE(records[0].rank.has_value());
  EXPECT_EQ(records[2].n_before, 1);
  EXPECT_EQ(records[2].entries, 3);
  EXPECT_EQ(records[1].cutoff, others[0].cutoff);
  EXPECT_EQ(records[3].cutoff, others[1].cutoff);
  EXPECT_EQ(records[4].cutoff, others[2].cutoff);
  EXPECT_EQ(records[4].entries, 5);
}

TEST(AshaStopping, NonFiniteStopCountsInTheHighestLevelPassedElseTheLowestAhead) {
  const auto rule = MakeRule(Spec100());
  EXPECT_THAT(Words(rule->OnReport({{0}, 3, kInf})), ElementsAre("stop non_finite at 10"));
  EXPECT_THAT(Words(rule->OnReport({{1}, 95, -kInf})),
              ElementsAre("skipped at 10", "skipped at 30", "stop non_finite at 90"));
  rule->OnReport({{2}, 90, 0.5});
  const Verdict late = rule->OnReport({{2}, 100, kNan});  // it comes before max_t
  EXPECT_EQ(late.reason, "non_finite");
  EXPECT_FALSE(late.trial_completed);
  EXPECT_THAT(Words(late), IsEmpty());  // no level left
}

TEST(AshaStopping, NonFiniteWorstCountsOnlyAtALevel) {
  AshaSpec spec = Spec100();
  spec.non_finite = AshaSpec::NonFinite::kWorst;
  const auto rule = MakeRule(spec);
  EXPECT_EQ(rule->OnReport({{0}, 3, kNan}).decision, Decision::kContinue);
  const Verdict at_level = rule->OnReport({{0}, 10, kNan});
  EXPECT_EQ(at_level.reason, "non_finite");
  EXPECT_THAT(Words(at_level), ElementsAre("stop non_finite at 10"));
  const Verdict at_end = rule->OnReport({{1}, 100, kNan});
  EXPECT_EQ(at_end.reason, "max_t");
  EXPECT_TRUE(at_end.trial_completed);
}

TEST(AshaStopping, NonFiniteIgnoreIsAReportWithoutTheObjective) {
  AshaSpec spec = Spec100();
  spec.non_finite = AshaSpec::NonFinite::kIgnore;
  const auto rule = MakeRule(spec);
  EXPECT_THAT(Words(rule->OnReport({{0}, 10, kNan})), IsEmpty());
  // The first report at or past 10 with the objective is the one at 11.
  const Verdict next = rule->OnReport({{0}, 11, 0.5});
  EXPECT_THAT(Words(next), ElementsAre("continue no_rivals at 10"));
  EXPECT_EQ(next.records[0].step, 11);
  EXPECT_EQ(rule->OnReport({{0}, 100, kNan}).decision, Decision::kContinue);
  EXPECT_EQ(rule->OnReport({{0}, 101, kNan}).reason, "max_t");
}

TEST(AshaStopping, AResumedAttemptPassesDecidedLevelsWithoutASecondRow) {
  const auto rule = MakeRule(Spec100());
  rule->OnReport({{0}, 10, 0.9});
  rule->OnReport({{0}, 12, 0.9});
  for (Steps step = 9; step <= 13; ++step) {  // lost at 12, resumed from a checkpoint at 8
    const Verdict verdict = rule->OnReport({{0}, step, 0.1});
    EXPECT_EQ(verdict.decision, Decision::kContinue);
    EXPECT_THAT(Words(verdict), IsEmpty());
  }
  EXPECT_EQ(rule->OnReport({{1}, 10, 0.5}).decision, Decision::kStop);
  const Verdict again = rule->OnReport({{1}, 10, 0.99});
  EXPECT_EQ(again.decision, Decision::kStop);
  EXPECT_EQ(again.reason, "below_cutoff");
  EXPECT_THAT(Words(again), IsEmpty());
}

TEST(AshaStopping, DecidesAtTheFirstReportPastALevelThatHasTheObjective) {
  // Step 10 came without the objective, so the rule first hears of 11.
  const auto rule = MakeRule(Spec100());
  const Verdict verdict = rule->OnReport({{0}, 11, .7});
  EXPECT_THAT(Words(verdict), ElementsAre("continue no_rivals at 10"));
  EXPECT_EQ(verdict.records[0].step, 11);
}

TEST(AshaStopping, TrialsJoinBracketsByTheirWeights) {
  AshaSpec spec = Spec100();
  spec.brackets = 4;
  const auto rule = MakeRule(spec);
  std::vector<int> counts(4);
  for (int32_t trial = 0; trial < 4900; ++trial) {
    ++counts.at(static_cast<size_t>(rule->BracketOf({trial})));
  }
  // Of 4900: 2700, 1200, 600, 400. Chi-square beyond 30.66 with 3 degrees has odds of 1e-6.
  const std::vector<double> expected = {2700, 1200, 600, 400};
  double chi_square = 0;
  for (size_t s = 0; s < 4; ++s) {
    chi_square += (counts[s] - expected[s]) * (counts[s] - expected[s]) / expected[s];
  }
  EXPECT_LT(chi_square, 30.66);
}

TEST(AshaStopping, ABracketDropsItsFirstLevelsAndTheLastHasNone) {
  AshaSpec spec = Spec100();
  spec.brackets = 4;
  const auto rule = MakeRule(spec);
  const auto trial_of = [&](int32_t bracket) {
    TrialNumber trial{0};
    while (rule->BracketOf(trial) != bracket) ++trial.value;
    return trial;
  };
  EXPECT_THAT(Words(rule->OnReport({trial_of(1), 10, .5})), IsEmpty());
  const Verdict at_30 = rule->OnReport({trial_of(1), 30, .5});
  EXPECT_THAT(Words(at_30), ElementsAre("continue no_rivals at 30"));
  EXPECT_EQ(at_30.records[0].bracket, 1);
  EXPECT_THAT(Words(rule->OnReport({trial_of(3), 95, .1})), IsEmpty());
  const Verdict failed = rule->OnReport({trial_of(3), 96, kNan});
  EXPECT_EQ(failed.reason, "non_finite");
  EXPECT_THAT(Words(failed), IsEmpty());
  // Brackets do not compare with each other.
  EXPECT_THAT(Words(rule->OnReport({trial_of(0), 30, .4})),
              ElementsAre("skipped at 10", "continue no_rivals at 30"));
}

TEST(AshaStopping, CutoffsOfHugeValuesStayFinite) {
  const auto rule = MakeRule(Spec100());
  const std::vector<DecisionRecord> records = AtTen(*rule, {-1.5e308, 1.5e308, 0});
  EXPECT_TRUE(std::isfinite(*records[2].cutoff));
}

/// Reports of all kinds: any order of steps, ties, non-finite values.
std::vector<RuleReport> MixedReports(int64_t seed, size_t count) {
  CounterRandom random({.seed = seed, .trial = {0}, .redraw = 0, .name = "mixed"});
  std::vector<RuleReport> reports;
  while (reports.size() < count) {
    const TrialNumber trial{static_cast<int32_t>(random.NextBelow(60))};
    const auto step = static_cast<Steps>(1 + random.NextBelow(105));
    const uint64_t kind = random.NextBelow(20);
    const double value = kind == 0   ? kNan
                         : kind == 1 ? kInf
                         : kind == 2 ? -kInf
                                     : static_cast<double>(random.NextBelow(30)) / 7;
    reports.push_back({trial, step, value});
  }
  return reports;
}

void ExpectSame(const Verdict& a, const Verdict& b) {
  EXPECT_EQ(a.decision, b.decision);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.trial_completed, b.trial_completed);
  ASSERT_EQ(a.records.size(), b.records.size());
  for (size_t i = 0; i < a.records.size(); ++i) {
    const DecisionRecord& x = a.records[i];
    const DecisionRecord& y = b.records[i];
    EXPECT_EQ(Words(x), Words(y));
    EXPECT_EQ(x.bracket, y.bracket);
    EXPECT_EQ(x.n_before, y.n_before);
    EXPECT_EQ(x.entries, y.entries);
    EXPECT_EQ(x.rank, y.rank);
    EXPECT_EQ(x.cutoff, y.cutoff);
    EXPECT_EQ(x.rule, y.rule);
  }
}

TEST(AshaStopping, ARuleRestoredAtAnyEventGoesOnAsTheOldOne) {
  for (const AshaSpec::NonFinite policy :
       {AshaSpec::NonFinite::kStop, AshaSpec::NonFinite::kWorst, AshaSpec::NonFinite::kIgnore}) {
    for (const AshaSpec::Cut cut : {AshaSpec::Cut::kQuantile, AshaSpec::Cut::kTop}) {
      AshaSpec spec = Spec100();
      spec.non_finite = policy;
      spec.cut = cut;
      spec.brackets = 2;
      spec.min_rivals = 2;
      const auto old_rule = MakeRule(spec);
      std::vector<DecisionRecord> records;
      for (const RuleReport& report : MixedReports(/*seed=*/11, /*count=*/300)) {
        const auto fresh = MakeRule(spec);
        fresh->Restore(records);
        const Verdict verdict = old_rule->OnReport(report);
        ExpectSame(verdict, fresh->OnReport(report));
        if (HasFailure()) return;
        records.insert(records.end(), verdict.records.begin(), verdict.records.end());
      }
    }
  }
}

TEST(AshaStopping, MirroredStreamsWithNonFiniteValuesDecideAlike) {
  for (const AshaSpec::NonFinite policy :
       {AshaSpec::NonFinite::kStop, AshaSpec::NonFinite::kWorst, AshaSpec::NonFinite::kIgnore}) {
    AshaSpec spec = Spec100();
    spec.non_finite = policy;
    spec.brackets = 2;
    const auto up = MakeRule(spec, Goal::kMaximize);
    const auto down = MakeRule(spec, Goal::kMinimize);
    for (RuleReport report : MixedReports(/*seed=*/12, /*count=*/2000)) {
      Verdict a = up->OnReport(report);
      report.value = -report.value;
      const Verdict b = down->OnReport(report);
      for (DecisionRecord& record : a.records) {
        if (record.cutoff) record.cutoff = -*record.cutoff;
      }
      ExpectSame(a, b);
      if (HasFailure()) return;
    }
  }
}

TEST(AshaStopping, FifoNeverStops) {
  const auto rule = MakeStoppingRule(FifoSpec{}, Goal::kMaximize, 0);
  ASSERT_TRUE(rule.ok());
  const Verdict verdict = (*rule)->OnReport({{0}, 1'000'000, kNan});
  EXPECT_EQ(verdict.decision, Decision::kContinue);
  EXPECT_THAT(verdict.records, IsEmpty());
  EXPECT_FALSE((*rule)->MaxStep().has_value());
}

}  // namespace
}  // namespace rung
