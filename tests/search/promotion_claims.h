#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "search/stopping_rule.h"

/// Who has earned a promotion by the definition of EARLY_STOPPING.md §4, from the decision rows of
/// an experiment alone.
namespace rung {

struct PromotionHistory {
  std::span<const DecisionRecord> rows;  ///< in `seq` order
  const std::set<int32_t>& over;         ///< trials that failed or were cancelled
  std::span<const Steps> stops;          ///< the levels and R, ascending
  Goal goal = Goal::kMaximize;
};

/// Of each rung, highest level first, then lower bracket: those of the first k eligible entries
/// that were not promoted, in their order. At the end of an experiment there are none (the
/// invariant of §4).
inline std::vector<int32_t> UnmetClaims(const PromotionHistory& history) {
  using Key = std::pair<Steps, int32_t>;  // (−level, bracket)
  std::map<Key, std::set<int32_t>> promoted;
  std::map<Key, std::vector<const DecisionRecord*>> entries;
  for (const DecisionRecord& row : history.rows) {
    const Key key(-row.level, row.bracket);
    if (row.decision == "promote") {
      promoted[key].insert(row.trial.value);
    } else if (row.decision != "skipped") {
      entries[key].push_back(&row);
    }
  }
  std::vector<int32_t> claims;
  for (auto& [key, all] : entries) {
    const std::set<int32_t>& gone = promoted[key];
    const auto n = static_cast<int64_t>(all.size());
    const auto next = std::upper_bound(history.stops.begin(), history.stops.end(), -key.first);
    const int64_t k = n * -key.first / *next;
    std::erase_if(all, [&](const DecisionRecord* row) {
      const bool out = history.over.contains(row->trial.value) && !gone.contains(row->trial.value);
      return !std::isfinite(row->value) || out;
    });
    const double sign = history.goal == Goal::kMaximize ? 1 : -1;
    std::ranges::sort(all, {}, [&](const DecisionRecord* row) {
      return std::pair(-sign * row->value, row->trial.value);
    });
    if (static_cast<int64_t>(all.size()) > k) all.resize(static_cast<size_t>(k));
    for (const DecisionRecord* row : all) {
      if (!gone.contains(row->trial.value)) claims.push_back(row->trial.value);
    }
  }
  return claims;
}

}  // namespace rung
