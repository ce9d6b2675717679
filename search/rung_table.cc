#include "search/rung_table.h"

#include <cmath>

#include "core/check.h"

namespace rung {

void RungTable::Insert(double value, TrialNumber trial) {
  RUNG_CHECK(std::isfinite(value));
  const bool inserted = tree_.insert(Entry{value, trial}).second;
  RUNG_CHECK(inserted);
}

void RungTable::Erase(double value, TrialNumber trial) {
  const bool erased = tree_.erase(Entry{value, trial});
  RUNG_CHECK(erased);
}

std::optional<TrialNumber> RungTable::Best() const {
  if (tree_.empty()) return std::nullopt;
  return tree_.begin()->trial;
}

std::optional<TrialNumber> RungTable::BestBehind(double value, TrialNumber trial) const {
  const auto behind = tree_.upper_bound(Entry{value, trial});
  if (behind == tree_.end()) return std::nullopt;
  return behind->trial;
}

int64_t RungTable::BetterThan(double value, TrialNumber trial) const {
  return static_cast<int64_t>(tree_.order_of_key(Entry{value, trial}));
}

double RungTable::FromBest(int64_t index) const {
  RUNG_CHECK(index >= 0 && index < finite());
  return tree_.find_by_order(static_cast<size_t>(index))->value;
}

}  // namespace rung
