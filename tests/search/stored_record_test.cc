#include "search/stored_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace rung {
namespace {

using ::testing::HasSubstr;

constexpr AshaSpec kStopping = {.max_t = 100, .grace_period = 10, .reduction_factor = 3};

std::unique_ptr<StoppingRule> Rule(AshaSpec::Variant variant = AshaSpec::Variant::kStopping) {
  AshaSpec spec = kStopping;
  spec.variant = variant;
  return *MakeStoppingRule(spec, Goal::kMaximize, /*seed=*/0);
}

/// Writes the record that an experiment would leave.
class Recorder {
 public:
  explicit Recorder(AshaSpec::Variant variant = AshaSpec::Variant::kStopping)
      : rule_(Rule(variant)) {}

  Verdict Report(int32_t trial, Steps step, double value, int32_t attempt = 0) {
    record.reports.push_back({attempt, {{trial}, step, value}, time_us});
    Verdict verdict = rule_->OnReport({{trial}, step, value});
    if (rule_->NextPromotion(std::nullopt) == TrialNumber{trial}) {
      rule_->PromoteOnArrival(Grant::kEarned, verdict);
    }
    Keep(verdict, attempt);
    return verdict;
  }
  /// A report that is stored when it decides nothing any more.
  void StoreOnly(int32_t trial, Steps step, double value, int32_t attempt = 0) {
    record.reports.push_back({attempt, {{trial}, step, value}, time_us});
  }
  void Promote(int32_t trial, Grant grant, int32_t attempt = 0) {
    Keep(rule_->Promote({trial}, grant), attempt);
  }
  void Cancel(int32_t trial) {
    rule_->OnTrialEnded({trial}, TrialState::kCancelled);
    record.ends.push_back({{trial}, TrialState::kCancelled, time_us});
  }

  StoredRecord record;
  int64_t time_us = 1;

 private:
  void Keep(const Verdict& verdict, int32_t attempt) {
    for (const DecisionRecord& row : verdict.records) {
      record.decisions.push_back({attempt, row, time_us});
    }
  }

  std::unique_ptr<StoppingRule> rule_;
};

TEST(StoredRecord, InStoppingTheReportsAloneGiveTheRowsAgainWhateverTheirOrder) {
  Recorder recorder;
  for (int32_t trial = 0; trial < 9; ++trial) {
    recorder.Report(trial, 5, .1);
    recorder.Report(trial, 10, (trial * 7 % 9) / 10.0);  // all at one time, in one commit
  }
  EXPECT_EQ(recorder.record.decisions.size(), 9U);
  std::reverse(recorder.record.reports.begin(), recorder.record.reports.end());
  EXPECT_TRUE(CheckRecord(recorder.record, Rule()).ok());
}

TEST(StoredRecord, TheFirstDifferenceIsNamed) {
  Recorder recorder;
  recorder.Report(0, 10, .5);
  recorder.Report(1, 10, .6);
  recorder.Report(2, 10, .4);
  StoredRecord changed = recorder.record;
  changed.decisions[2].row.decision = "continue";
  const absl::Status status = CheckRecord(changed, Rule());
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("decision 3: stored is continue of trial 2 at level 10"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the rule says stop of trial 2"));

  changed = recorder.record;
  changed.decisions.pop_back();
  EXPECT_THAT(std::string(CheckRecord(changed, Rule()).message()),
              HasSubstr("decision 3: stored is nothing; the rule says stop"));

  changed = recorder.record;
  changed.decisions.push_back(changed.decisions.back());
  EXPECT_THAT(std::string(CheckRecord(changed, Rule()).message()),
              HasSubstr("decision 4: stored is stop of trial 2"));

  changed = recorder.record;
  changed.reports[1].report.value = .61;
  EXPECT_THAT(std::string(CheckRecord(changed, Rule()).message()), HasSubstr("decision 2"));
}

TEST(StoredRecord, GrantsAreReplayedAndLateReportsJudgedAtTheirPromotion) {
  Recorder recorder(AshaSpec::Variant::kPromotion);
  recorder.Report(0, 10, .7);
  recorder.Report(1, 10, .6);
  recorder.time_us = 2;
  recorder.Report(0, 30, .9);  // while it is paused: kept
  recorder.Report(2, 10, .5);
  recorder.Promote(0, Grant::kEarned);  // judged at 30 at once, in the same commit
  EXPECT_EQ(recorder.record.decisions.size(), 5U);
  recorder.Report(3, 10, .65);
  recorder.Report(4, 10, .64);
  recorder.Report(5, 10, .8);  // the best of 6: promoted on arrival
  EXPECT_TRUE(CheckRecord(recorder.record, Rule(AshaSpec::Variant::kPromotion)).ok())
      << CheckRecord(recorder.record, Rule(AshaSpec::Variant::kPromotion));
  EXPECT_FALSE(CheckRecord(recorder.record, Rule()).ok());
}

TEST(StoredRecord, WhatAnAttemptReportedAfterItsPromotionDecidesNothing) {
  Recorder recorder(AshaSpec::Variant::kPromotion);
  recorder.Report(0, 10, .7);
  recorder.Report(1, 10, .6);
  recorder.Report(2, 10, .5);
  recorder.Promote(0, Grant::kEarned);
  recorder.StoreOnly(0, 31, .9);
  recorder.time_us = 2;
  recorder.Report(0, 30, .8, /*attempt=*/1);
  const absl::Status status = CheckRecord(recorder.record, Rule(AshaSpec::Variant::kPromotion));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(StoredRecord, ACancelledTrialLeavesTheOrderAndItsLaterReportsOut) {
  Recorder recorder(AshaSpec::Variant::kPromotion);
  recorder.Report(0, 10, .7);
  recorder.Report(1, 10, .6);
  recorder.time_us = 2;
  recorder.Cancel(0);
  recorder.StoreOnly(0, 30, .9);
  recorder.time_us = 3;
  recorder.Report(2, 10, .5);  // 3 div 3: trial 1 is now the first that is eligible
  recorder.Promote(1, Grant::kEarned);
  const absl::Status status = CheckRecord(recorder.record, Rule(AshaSpec::Variant::kPromotion));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(StoredRecord, APromotionThatWasNotEarnedIsADifference) {
  Recorder recorder(AshaSpec::Variant::kPromotion);
  recorder.Report(0, 10, .7);
  recorder.Report(1, 10, .6);
  recorder.Report(2, 10, .5);
  recorder.Promote(0, Grant::kEarned);
  StoredRecord changed = recorder.record;
  changed.decisions.back().row.trial = {1};
  EXPECT_THAT(std::string(CheckRecord(changed, Rule(AshaSpec::Variant::kPromotion)).message()),
              HasSubstr("the rule says that trial 1 has not earned it"));
}

}  // namespace
}  // namespace rung
