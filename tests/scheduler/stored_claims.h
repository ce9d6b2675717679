#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "storage/memory_storage.h"
#include "tests/search/promotion_claims.h"

namespace rung {

/// UnmetClaims of what an experiment of AshaSpecOf's levels, which minimises, has stored.
inline std::vector<int32_t> StoredUnmetClaims(const MemoryTables& tables, ExperimentId experiment) {
  std::vector<DecisionRecord> rows;
  for (const auto& [key, row] : tables.decisions) {
    if (row.experiment != experiment) continue;
    rows.push_back({row.bracket, row.level, row.trial, row.step, row.value, row.n_before,
                    row.entries, row.rank, row.cutoff, row.rule, row.decision, row.reason});
  }
  std::set<int32_t> over;
  for (const auto& [id, trial] : tables.trials) {
    const bool ended = trial.state == TrialState::kFailed || trial.state == TrialState::kCancelled;
    if (id.experiment == experiment && ended) over.insert(id.number.value);
  }
  constexpr std::array<Steps, 3> kStops{1, 3, 9};
  return UnmetClaims({.rows = rows, .over = over, .stops = kStops, .goal = Goal::kMinimize});
}

}  // namespace rung
