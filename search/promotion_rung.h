#pragma once

#include <cstdint>
#include <optional>

#include "search/rung_table.h"

/// A rung from which trials are promoted: who waits in it, who has gone on, and who never will.
///
/// Source: Li et al., MLSys 2020, Algorithm 2, with the order of EARLY_STOPPING.md §4. Larger is
/// better, equal values are ordered by trial number. Every call takes O(log n).
namespace rung {

class PromotionRung {
 public:
  /// A trial pauses with a finite value, one entry a trial.
  void Insert(double value, TrialNumber trial) { waiting_.Insert(value, trial); }
  /// An entry with a non-finite value, which is never promoted.
  void InsertLoser() { ++losers_; }
  /// A waiting trial goes on. It keeps its place among the eligible, whatever becomes of it.
  void Promote(double value, TrialNumber trial);
  /// A waiting trial failed or was cancelled: its entry counts, but is no longer eligible.
  void Disqualify(double value, TrialNumber trial);

  int64_t finite() const { return waiting_.finite() + promoted_.finite() + disqualified_.finite(); }
  int64_t entries() const { return finite() + losers_; }
  /// How many finite entries are better.
  int64_t BetterThan(double value, TrialNumber trial) const;
  /// How many eligible entries are better.
  int64_t EligibleBetterThan(double value, TrialNumber trial) const;

  /// The best trial that waits, and the best one behind an entry.
  std::optional<TrialNumber> BestWaiting() const { return waiting_.Best(); }
  std::optional<TrialNumber> BestWaitingBehind(double value, TrialNumber trial) const {
    return waiting_.BestBehind(value, trial);
  }

 private:
  RungTable waiting_;
  RungTable promoted_;
  RungTable disqualified_;
  int64_t losers_ = 0;
};

}  // namespace rung
