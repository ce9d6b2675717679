#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <vector>

#include "core/metric.h"

/// The step counts at which trials are compared (EARLY_STOPPING.md §1).
namespace rung {

struct LevelParameters {
  Steps max_t = 0;               ///< R, the end of every trial
  Steps grace_period = 0;        ///< r, the first level, 1 ≤ r ≤ R
  int64_t reduction_factor = 0;  ///< η, at least 2
};

/// r, r·η, r·η², … while below R, by integer multiplication: logarithms lose a level at 243/1/3 and
/// at 1000/1/10. Empty when r = R. `parameters` must be valid.
std::vector<Steps> RungLevels(const LevelParameters& parameters);

/// How many brackets `hyperband` has: one for each level to start from, and one without a rung.
int32_t HyperbandBrackets(const LevelParameters& parameters);

/// Errors: INVALID_ARGUMENT with the path of the key below `scheduler.asha`.
absl::Status CheckLevelParameters(const LevelParameters& parameters);

/// The share of trials that each of `brackets` brackets gets: bracket s in proportion to
/// (S / (S − s)) · η^−s, Hyperband's. They add up to 1.
std::vector<double> BracketWeights(int32_t brackets, int64_t reduction_factor);

}  // namespace rung
