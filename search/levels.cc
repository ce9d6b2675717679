#include "search/levels.h"

#include <fmt/format.h>

#include "core/check.h"

namespace rung {

std::vector<Steps> RungLevels(const LevelParameters& parameters) {
  RUNG_CHECK(CheckLevelParameters(parameters).ok());
  std::vector<Steps> levels;
  Steps level = parameters.grace_period;
  while (level < parameters.max_t) {
    levels.push_back(level);
    // level · η ≥ R exactly when level > (R − 1) div η; asked so, since the product may overflow.
    if (level > (parameters.max_t - 1) / parameters.reduction_factor) break;
    level *= parameters.reduction_factor;
  }
  return levels;
}

int32_t HyperbandBrackets(const LevelParameters& parameters) {
  return static_cast<int32_t>(RungLevels(parameters).size()) + 1;
}

absl::Status CheckLevelParameters(const LevelParameters& parameters) {
  if (parameters.max_t < 1) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.asha.max_t: must be at least 1, found {}", parameters.max_t));
  }
  if (parameters.grace_period < 1 || parameters.grace_period > parameters.max_t) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.asha.grace_period: must lie in 1 … max_t ({}), found {}",
                    parameters.max_t, parameters.grace_period));
  }
  if (parameters.reduction_factor < 2) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.asha.reduction_factor: must be an integer of at least 2, found {}",
                    parameters.reduction_factor));
  }
  return absl::OkStatus();
}

std::vector<double> BracketWeights(int32_t brackets, int64_t reduction_factor) {
  RUNG_CHECK(brackets >= 1);
  RUNG_CHECK(reduction_factor >= 2);
  std::vector<double> weights;
  double power = 1;  // η^s
  double total = 0;
  for (int32_t s = 0; s < brackets; ++s) {
    weights.push_back(static_cast<double>(brackets) / static_cast<double>(brackets - s) / power);
    total += weights.back();
    power *= static_cast<double>(reduction_factor);
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

}  // namespace rung
