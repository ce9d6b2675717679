#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "search/levels.h"
#include "search/stopping_rule.h"
#include "tests/search/promotion_claims.h"

/// One experiment under a rule that promotes, on a virtual clock: slots, trials that report at
/// every level and at R, failures.
namespace rung {

struct PromotionSetup {
  AshaSpec spec;
  Goal goal = Goal::kMaximize;
  int64_t seed = 0;
  int32_t trials = 0;
  int workers = 1;
  /// What a trial reports; the same for every step asked twice.
  std::function<double(TrialNumber, Steps)> value;
  /// The step at which a trial fails instead of reporting; nullopt: never.
  std::function<std::optional<Steps>(TrialNumber)> fails_at;
  /// Time units that a trial takes a step.
  std::function<int64_t(TrialNumber)> pace;
};

class PromotionRun {
 public:
  explicit PromotionRun(PromotionSetup setup) : setup_(std::move(setup)) {
    rule = *MakeStoppingRule(setup_.spec, setup_.goal, setup_.seed);
    stops_ = RungLevels({.max_t = setup_.spec.max_t,
                         .grace_period = setup_.spec.grace_period,
                         .reduction_factor = setup_.spec.reduction_factor});
    stops_.push_back(setup_.spec.max_t);
    free_ = setup_.workers;
  }

  /// Runs to the end. `look` is called after every report.
  void Run(const std::function<void(PromotionRun&)>& look = {}) {
    Fill();
    while (!events_.empty()) {
      const auto [time, seq, number] = events_.top();
      events_.pop();
      now_ = time;
      Happen({number});
      if (look) look(*this);
      Fill();
    }
    EXPECT_EQ(free_, setup_.workers);
  }

  /// A person stops a paused trial.
  void Cancel(TrialNumber trial) {
    if (paused.erase(trial.value) == 0) return;
    over.insert(trial.value);
    rule->OnTrialEnded(trial, TrialState::kCancelled);
  }

  /// The claims by the definition.
  std::vector<int32_t> Claims() const {
    return UnmetClaims({.rows = rows, .over = over, .stops = stops_, .goal = setup_.goal});
  }

  /// Each of the first k eligible entries of each rung was promoted (the invariant of §4).
  bool InvariantHolds() const { return Claims().empty(); }

  std::unique_ptr<StoppingRule> rule;
  std::vector<DecisionRecord> rows;
  std::set<int32_t> paused;
  std::set<int32_t> running;
  std::set<int32_t> completed;
  std::set<int32_t> stopped;
  std::set<int32_t> over;  ///< failed or cancelled
  int restarts = 0;        ///< promotions that were not on arrival

 private:
  bool DrainIsDue() const {
    return next_ == setup_.trials && running.empty() && completed.empty() &&
           !rule->NextPromotion(std::nullopt);
  }

  /// Hands out free slots: promotions, new trials, the drain.
  void Fill() {
    while (free_ > 0) {
      if (const auto trial = rule->NextPromotion(std::nullopt)) {
        Promote(*trial, Grant::kEarned);
      } else if (next_ < setup_.trials) {
        Start({next_++}, 0);
      } else if (const auto drained = rule->NextDrain(); drained && DrainIsDue()) {
        Promote(*drained, Grant::kDrain);
      } else {
        return;
      }
    }
  }

  void Promote(TrialNumber trial, Grant grant) {
    Verdict verdict = rule->Promote(trial, grant);
    EXPECT_EQ(verdict.decision, Decision::kContinue);  // nobody reports while it waits
    EXPECT_EQ(paused.erase(trial.value), 1U);
    const Steps from = verdict.records.back().step;
    rows.insert(rows.end(), verdict.records.begin(), verdict.records.end());
    ++restarts;
    Start(trial, from);
  }

  void Start(TrialNumber trial, Steps from) {
    --free_;
    running.insert(trial.value);
    step_[trial.value] = from;
    Schedule(trial);
  }

  void Schedule(TrialNumber trial) {
    const Steps from = step_[trial.value];
    // A value that policy `ignore` leaves out at R does not end the trial: the next step does.
    const auto next = std::upper_bound(stops_.begin(), stops_.end(), from);
    const Steps to = next != stops_.end() ? *next : from + 1;
    const int64_t pace = setup_.pace ? setup_.pace(trial) : 1;
    events_.emplace(now_ + (to - from) * pace, ++last_seq_, trial.value);
    step_[trial.value] = to;
  }

  void Leave(TrialNumber trial, std::set<int32_t>& where) {
    running.erase(trial.value);
    where.insert(trial.value);
    ++free_;
  }

  void Happen(TrialNumber trial) {
    const Steps step = step_[trial.value];
    if (const auto fails = setup_.fails_at ? setup_.fails_at(trial) : std::nullopt;
        fails && *fails <= step) {
      Leave(trial, over);
      rule->OnTrialEnded(trial, TrialState::kFailed);
      return;
    }
    Verdict verdict = rule->OnReport({trial, step, setup_.value(trial, step)});
    if (verdict.decision == Decision::kPause) {
      running.erase(trial.value);  // is the one who would get what it frees itself?
      const auto next = rule->NextPromotion(std::nullopt);
      if (next == trial) {
        rule->PromoteOnArrival(Grant::kEarned, verdict);
      } else if (DrainIsDue() && rule->NextDrain() == trial) {
        rule->PromoteOnArrival(Grant::kDrain, verdict);
      }
      running.insert(trial.value);
    }
    rows.insert(rows.end(), verdict.records.begin(), verdict.records.end());
    switch (verdict.decision) {
      case Decision::kContinue:
        return Schedule(trial);
      case Decision::kPause:
        return Leave(trial, paused);
      case Decision::kStop:
        return Leave(trial, verdict.trial_completed ? completed : stopped);
    }
  }

  PromotionSetup setup_;
  std::vector<Steps> stops_;  ///< the levels and R
  int free_ = 0;
  int32_t next_ = 0;
  int64_t now_ = 0;
  int64_t last_seq_ = 0;
  std::map<int32_t, Steps> step_;                       ///< at which a running trial reports next
  using Event = std::tuple<int64_t, int64_t, int32_t>;  ///< (time, sequence, trial)
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace rung
