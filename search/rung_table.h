#pragma once

#include <cstdint>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <optional>

#include "core/ids.h"

/// The values recorded at one level of one bracket, ordered from the best. Larger is better.
///
/// A red-black tree with subtree sizes (GNU pb_ds): each call below takes O(log n), an entry 64
/// bytes.
namespace rung {

class RungTable {
 public:
  /// Equal values are ordered by trial number, the lower one first. One finite value a trial.
  void Insert(double value, TrialNumber trial);

  /// An entry with a non-finite value: it counts among the entries and is ranked nowhere.
  void InsertLoser() { ++losers_; }

  int64_t finite() const { return static_cast<int64_t>(tree_.size()); }
  int64_t entries() const { return finite() + losers_; }

  /// Takes out what Insert put in.
  void Erase(double value, TrialNumber trial);

  /// How many finite entries are better than (value, trial).
  int64_t BetterThan(double value, TrialNumber trial) const;

  /// The trial of the best finite entry, and of the best one behind (value, trial).
  std::optional<TrialNumber> Best() const;
  std::optional<TrialNumber> BestBehind(double value, TrialNumber trial) const;

  /// The value in place `index` from the best, 0 ≤ index < finite().
  double FromBest(int64_t index) const;
  /// The value in place `index` from the worst, 0 ≤ index < finite().
  double FromWorst(int64_t index) const { return FromBest(finite() - 1 - index); }

 private:
  struct Entry {
    double value;
    TrialNumber trial;
  };
  struct Better {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.value > b.value || (a.value == b.value && a.trial < b.trial);
    }
  };
  using Tree = __gnu_pbds::tree<Entry, __gnu_pbds::null_type, Better, __gnu_pbds::rb_tree_tag,
                                __gnu_pbds::tree_order_statistics_node_update>;

  Tree tree_;
  int64_t losers_ = 0;
};

}  // namespace rung
