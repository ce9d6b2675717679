#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "core/metric.h"
#include "scheduler/experiment_spec.h"
#include "storage/write_batch.h"

/// Replays what one experiment stored (reports, exits and grants, in the order of its commits)
/// through a fresh stopping rule, and expects the stored decision rows of it (EARLY_STOPPING.md
/// §5).
namespace rung {

class DecisionReplay {
 public:
  DecisionReplay(ExperimentId experiment, const ExperimentSpec& spec)
      : experiment_(experiment),
        metric_(spec.metric),
        rule_(*MakeStoppingRule(spec.scheduler, spec.goal, spec.seed)) {}

  /// The next batch that was committed.
  void Follow(const WriteBatch& batch) {
    for (const Write& write : batch.writes) {
      if (const auto* trial = std::get_if<TrialRow>(&write)) {
        if (trial->id.experiment == experiment_) states_[trial->id.number] = trial->state;
      }
    }
    for (const Write& write : batch.writes) {
      if (const auto* metric = std::get_if<MetricRow>(&write)) Follow(*metric);
      if (const auto* decision = std::get_if<DecisionRow>(&write)) Follow(*decision);
      if (const auto* event = std::get_if<EventRow>(&write)) Follow(*event);
    }
    EXPECT_TRUE(expected_.empty()) << "a row is missing: " << expected_.front().decision;
  }

  int rows() const { return rows_; }

 private:
  void Follow(const MetricRow& metric) {
    const TrialId trial = metric.attempt.trial;
    if (trial.experiment != experiment_ || metric.name != metric_) return;
    // An attempt whose trial has ended, or was promoted since its pause, decides nothing more.
    if (over_.contains(trial.number) || left_.contains(metric.attempt)) return;
    newest_[trial.number] = metric.attempt;
    last_ = rule_->OnReport({trial.number, metric.step, metric.value});
    expected_.assign(last_.records.begin(), last_.records.end());
  }

  void Follow(const DecisionRow& row) {
    if (row.experiment != experiment_) return;
    ++rows_;
    EXPECT_EQ(row.seq, rows_);
    const Grant grant = row.reason == "drain" ? Grant::kDrain : Grant::kEarned;
    if (expected_.empty()) {
      ASSERT_EQ(row.decision, "promote") << ToString(TrialId{experiment_, row.trial});
      ExpectItsTurn(row.trial, grant);
      left_.insert(newest_.at(row.trial));
      last_ = rule_->Promote(row.trial, grant);
      expected_.assign(last_.records.begin(), last_.records.end());
    } else if (expected_.front().decision == "pause" && row.decision == "continue") {
      ExpectItsTurn(row.trial, grant);
      const size_t before = last_.records.size() - expected_.size();
      rule_->PromoteOnArrival(grant, last_);
      expected_.assign(last_.records.begin() + static_cast<std::ptrdiff_t>(before),
                       last_.records.end());
    }
    const DecisionRecord& record = expected_.front();
    EXPECT_EQ(row.decision, record.decision);
    EXPECT_EQ(row.reason, record.reason);
    EXPECT_EQ(row.trial, record.trial);
    EXPECT_EQ(row.bracket, record.bracket);
    EXPECT_EQ(row.level, record.level);
    EXPECT_EQ(row.step, record.step);
    EXPECT_TRUE(SameValue(row.value, record.value));
    EXPECT_EQ(row.n_before, record.n_before);
    EXPECT_EQ(row.entries, record.entries);
    EXPECT_EQ(row.rank, record.rank);
    EXPECT_EQ(row.cutoff, record.cutoff);
    EXPECT_EQ(row.rule, record.rule);
    expected_.pop_front();
  }

  void Follow(const EventRow& event) {
    if (event.experiment != experiment_ || event.kind != "trial_ended") return;
    over_.insert(*event.trial);
    rule_->OnTrialEnded(*event.trial, states_.at(*event.trial));
  }

  /// What needs one worker may be passed over, so that a later claim comes first.
  void ExpectItsTurn(TrialNumber trial, Grant grant) {
    if (grant == Grant::kDrain) {
      EXPECT_EQ(rule_->NextDrain(), trial);
      return;
    }
    auto claim = rule_->NextPromotion(std::nullopt);
    while (claim && *claim != trial) claim = rule_->NextPromotion(*claim);
    EXPECT_EQ(claim, trial);
  }

  ExperimentId experiment_;
  std::string metric_;
  std::unique_ptr<StoppingRule> rule_;
  Verdict last_;
  std::deque<DecisionRecord> expected_;
  std::map<TrialNumber, TrialState> states_;
  std::map<TrialNumber, AttemptId> newest_;  ///< that reported
  std::set<TrialNumber> over_;
  std::set<AttemptId> left_;
  int rows_ = 0;
};

}  // namespace rung
