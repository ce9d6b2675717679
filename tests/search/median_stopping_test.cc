#include "search/median_stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "core/counter_random.h"
#include "tests/search/rules.h"

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr MedianSpec Spec(Steps grace_period, int64_t min_rivals,
                          std::optional<Steps> max_t = std::nullopt) {
  return {.grace_period = grace_period, .min_rivals = min_rivals, .max_t = max_t};
}

constexpr MedianSpec kAny = Spec(1, 1);

TEST(MedianStopping, ComparesTheBestValueWithTheMedianOfTheOthersMeans) {
  const auto rule = MakeRule(Spec(1, 2));
  // Means at step 2: trial 0 (.25 + .75) / 2 = .5, trial 1 .375, trial 2 (.5 + 0) / 2 = .25.
  for (const RuleReport& report :
       std::vector<RuleReport>{{{0}, 1, .25},
                               {{0}, 2, .75},
                               {{1}, 1, .375},
                               {{1}, 2, .375},
                               {{2}, 1, .5},    // median of .25 and .375
                               {{2}, 2, 0}}) {  // its best is .5, the median of .5 and .375 less
    EXPECT_EQ(rule->OnReport(report).decision, Decision::kContinue) << report.trial.value;
  }
  EXPECT_EQ(rule->OnReport({{3}, 1, .25}).decision, Decision::kStop);  // of .25, .375 and .5
  EXPECT_EQ(rule->OnReport({{4}, 1, .375}).decision, Decision::kContinue);
  const Verdict verdict = rule->OnReport({{5}, 2, .3125});
  EXPECT_EQ(verdict.decision, Decision::kStop);
  EXPECT_EQ(verdict.reason, "below_median");
  ASSERT_THAT(verdict.records, SizeIs(1));
  const DecisionRecord& record = verdict.records.front();
  EXPECT_EQ(record.level, 2);
  EXPECT_EQ(record.step, 2);
  EXPECT_EQ(record.value, .3125);
  EXPECT_EQ(record.n_before, 3);
  EXPECT_EQ(record.entries, 4);
  EXPECT_EQ(record.rank, 3);  // .5 and .375 are better, .25 is not
  EXPECT_EQ(record.cutoff, .375);
  EXPECT_EQ(record.rule, "median");
  EXPECT_EQ(record.decision, "stop");
  EXPECT_EQ(record.reason, "below_median");
}

TEST(MedianStopping, AnEarlierBestValueCountsAndAnEqualOneGoesOn) {
  const auto rule = MakeRule(kAny);
  rule->OnReport({{0}, 1, .5});
  rule->OnReport({{0}, 2, .5});
  EXPECT_EQ(rule->OnReport({{1}, 1, .5}).decision, Decision::kContinue);  // equal
  EXPECT_EQ(rule->OnReport({{1}, 2, .1}).decision, Decision::kContinue);  // its best is .5
}

TEST(MedianStopping, StopsNobodyBeforeTheGracePeriodNorBelowMinRivals) {
  const auto rule = MakeRule(Spec(3, 2));
  rule->OnReport({{0}, 2, 1});
  rule->OnReport({{0}, 3, 1});
  rule->OnReport({{1}, 2, 1});
  EXPECT_EQ(rule->OnReport({{1}, 3, 0}).decision, Decision::kContinue);  // one rival
  rule->OnReport({{2}, 2, 0});
  EXPECT_EQ(rule->OnReport({{2}, 3, .4}).decision, Decision::kStop);  // median (1 + 0) / 2
  EXPECT_EQ(rule->OnReport({{3}, 2, -9}).decision, Decision::kContinue);
}

TEST(MedianStopping, MeansBeginAtTheGracePeriod) {
  const auto rule = MakeRule(Spec(2, 1));
  rule->OnReport({{0}, 1, -100});
  rule->OnReport({{0}, 2, 1});
  EXPECT_EQ(rule->OnReport({{1}, 2, .9}).records.at(0).cutoff, 1);
}

TEST(MedianStopping, OnlyTrialsThatReportedTheStepAreRivals) {
  const auto rule = MakeRule(kAny);
  rule->OnReport({{0}, 1, 1});
  rule->OnReport({{0}, 5, 1});
  EXPECT_EQ(rule->OnReport({{1}, 3, 0}).decision, Decision::kContinue);
  EXPECT_EQ(rule->OnReport({{1}, 5, 0}).decision, Decision::kStop);
}

TEST(MedianStopping, ValuesThatAreNotFiniteAreAsIfNotReported) {
  const auto rule = MakeRule(Spec(1, 1, 9));
  EXPECT_EQ(rule->OnReport({{0}, 1, kNan}).decision, Decision::kContinue);
  EXPECT_EQ(rule->OnReport({{1}, 1, 5}).decision, Decision::kContinue);  // no rival
  EXPECT_EQ(rule->OnReport({{0}, 2, -INFINITY}).decision, Decision::kContinue);
  EXPECT_EQ(rule->OnReport({{1}, 2, 5}).decision, Decision::kContinue);
  EXPECT_EQ(rule->OnReport({{0}, 9, kNan}).decision, Decision::kContinue);
  const Verdict beyond = rule->OnReport({{0}, 10, kNan});
  EXPECT_TRUE(beyond.trial_completed);
  EXPECT_EQ(beyond.reason, "max_t");
}

TEST(MedianStopping, EndsTrialsAtMaxTAndJudgesNobodyThere) {
  const auto rule = MakeRule(Spec(1, 1, 3));
  EXPECT_EQ(rule->MaxStep(), 3);
  EXPECT_EQ(rule->OnReport({{0}, 3, 1}).reason, "max_t");
  const Verdict verdict = rule->OnReport({{1}, 3, 0});
  EXPECT_TRUE(verdict.trial_completed);
  EXPECT_THAT(verdict.records, IsEmpty());
  EXPECT_EQ(MakeRule(kAny)->MaxStep(), std::nullopt);
}

TEST(MedianStopping, AResumedAttemptIsNotJudgedAgainWhereItWas) {
  const auto rule = MakeRule(kAny);
  rule->OnReport({{0}, 1, .2});
  rule->OnReport({{0}, 2, .2});
  rule->OnReport({{1}, 1, .9});
  rule->OnReport({{1}, 2, .9});
  // Trial 0 begins anew and reports less than the median, .9: its first values stay.
  EXPECT_EQ(rule->OnReport({{0}, 1, 0}).decision, Decision::kContinue);
  EXPECT_EQ(rule->OnReport({{0}, 2, 0}).decision, Decision::kContinue);
  EXPECT_EQ(rule->OnReport({{2}, 2, .5}).records.at(0).cutoff, .55);  // of .2 and .9
  rule->OnReport({{1}, 3, .9});
  EXPECT_EQ(rule->OnReport({{0}, 3, .3}).decision, Decision::kStop);
  // And once stopped it stays so, wherever it reports.
  EXPECT_EQ(rule->OnReport({{0}, 1, 9}).reason, "below_median");
  EXPECT_THAT(rule->OnReport({{0}, 4, 9}).records, IsEmpty());
}

/// Streams of 40 trials that report some of the steps 1 … 12, with ties, NaN and resumed attempts.
std::vector<RuleReport> Stream(int64_t seed) {
  CounterRandom random({.seed = seed, .trial = {0}, .redraw = 0, .name = "stream"});
  std::map<int32_t, Steps> reached;
  std::vector<RuleReport> reports;
  for (int i = 0; i < 400; ++i) {
    const auto trial = static_cast<int32_t>(random.NextBelow(40));
    Steps& step = reached[trial];
    if (random.NextBelow(20) == 0) step /= 2;
    step += random.NextBelow(5) == 0 ? 2 : 1;
    const double value = static_cast<double>(random.NextBelow(30)) / 8;
    reports.push_back({{trial}, step, random.NextBelow(25) == 0 ? kNan : value});
  }
  return reports;
}

/// The definition, word for word: every value is looked at again for every report.
class ByDefinition {
 public:
  ByDefinition(const MedianSpec& spec, double sign) : spec_(spec), sign_(sign) {}

  bool Stops(const RuleReport& report) {
    std::map<Steps, double>& own = values_[report.trial.value];
    if (!std::isfinite(report.value) || (!own.empty() && report.step <= own.rbegin()->first)) {
      return false;
    }
    own[report.step] = sign_ * report.value;
    if (report.step < spec_.grace_period) return false;
    std::vector<double> means;
    for (const auto& [trial, values] : values_) {
      if (trial == report.trial.value || !values.contains(report.step)) continue;
      double sum = 0;
      int count = 0;
      for (const auto& [step, value] : values) {
        if (step < spec_.grace_period || step > report.step) continue;
        sum += value;
        ++count;
      }
      means.push_back(sum / count);
    }
    if (static_cast<int64_t>(means.size()) < spec_.min_rivals) return false;
    std::ranges::sort(means);
    const size_t n = means.size();
    const double median = n % 2 == 1 ? means[n / 2] : (means[n / 2 - 1] + means[n / 2]) / 2;
    return std::ranges::max_element(own, {}, &std::pair<const Steps, double>::second)->second <
           median;
  }

 private:
  MedianSpec spec_;
  double sign_;
  std::map<int32_t, std::map<Steps, double>> values_;
};

TEST(MedianStopping, AgreesWithItsDefinition) {
  int stops = 0;
  for (int64_t seed = 0; seed < 30; ++seed) {
    const MedianSpec spec = Spec(1 + seed % 4, 1 + seed % 5);
    const Goal goal = seed % 2 == 0 ? Goal::kMaximize : Goal::kMinimize;
    const auto rule = MakeRule(spec, goal);
    ByDefinition definition(spec, goal == Goal::kMaximize ? 1 : -1);
    std::map<int32_t, bool> stopped;
    for (const RuleReport& report : Stream(seed)) {
      if (stopped[report.trial.value]) continue;
      const bool stops_now = definition.Stops(report);
      ASSERT_EQ(rule->OnReport(report).decision == Decision::kStop, stops_now) << seed;
      stopped[report.trial.value] = stops_now;
      stops += stops_now ? 1 : 0;
    }
  }
  EXPECT_GT(stops, 100);
}

TEST(MedianStopping, MirroredStreamsDecideAlike) {
  for (int64_t seed = 0; seed < 10; ++seed) {
    const auto up = MakeRule(Spec(2, 3), Goal::kMaximize);
    const auto down = MakeRule(Spec(2, 3), Goal::kMinimize);
    for (const RuleReport& report : Stream(seed)) {
      const Verdict a = up->OnReport(report);
      const Verdict b = down->OnReport({report.trial, report.step, -report.value});
      ASSERT_EQ(a.decision, b.decision);
      ASSERT_EQ(a.records.size(), b.records.size());
      if (a.records.empty()) continue;
      EXPECT_EQ(a.records[0].cutoff, -*b.records[0].cutoff);
      EXPECT_EQ(a.records[0].rank, b.records[0].rank);
    }
  }
}

TEST(MedianStopping, RestoredFromItsStopsAndTheStoredValuesItGoesOnAsBefore) {
  const auto whole = MakeRule(Spec(2, 3));
  EXPECT_TRUE(whole->NeedsHistory());
  std::vector<DecisionRecord> records;
  std::map<int32_t, std::vector<RuleReport>> stored;  // by trial, each in its own order
  for (const RuleReport& report : Stream(4)) {
    const auto fresh = MakeRule(Spec(2, 3));
    fresh->Restore(records);
    for (const auto& [trial, reports] : stored) {
      for (const RuleReport& earlier : reports) fresh->Observe(earlier);
    }
    const Verdict a = whole->OnReport(report);
    const Verdict b = fresh->OnReport(report);
    ASSERT_EQ(a.decision, b.decision);
    ASSERT_EQ(a.records.size(), b.records.size());
    for (const DecisionRecord& record : a.records) {
      EXPECT_EQ(std::tuple(record.value, record.cutoff, record.rank, record.n_before),
                std::tuple(b.records[0].value, b.records[0].cutoff, b.records[0].rank,
                           b.records[0].n_before));
      records.push_back(record);
    }
    stored[report.trial.value].push_back(report);
  }
  EXPECT_GT(records.size(), 5U);
}

TEST(MedianStopping, RefusesSettingsOutOfRangeWithTheirPath) {
  const auto error = [](const MedianSpec& spec) {
    return std::string(MakeStoppingRule(spec, Goal::kMinimize, 0).status().message());
  };
  EXPECT_EQ(error(Spec(0, 1)), "scheduler.median.grace_period: must be at least 1, found 0");
  EXPECT_EQ(error(Spec(11, 1, 10)),
            "scheduler.median.grace_period: must be at most max_t, which is 10, found 11");
  EXPECT_THAT(error(Spec(1, 0)), HasSubstr("scheduler.median.min_rivals"));
}

}  // namespace
}  // namespace rung
