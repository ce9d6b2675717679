#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/metric.h"

/// Tables of recorded learning curves to search over: what a trial of each configuration reports.
/// data/curves_*.json and data/orders.json hold them.
namespace rung {

struct LearningCurve {
  int64_t step_ms = 0;                  ///< virtual time that one step takes
  std::vector<double> values;           ///< reported at steps 1, 2, …; lower is better
  std::map<Steps, int64_t> true_micro;  ///< the value without noise, in millionths, at some steps
};

/// By configuration. Errors: NOT_FOUND, INVALID_ARGUMENT with the file's name.
absl::StatusOr<std::vector<LearningCurve>> ReadLearningCurves(const std::string& path);

/// By seed: the configurations in the order in which trials 0, 1, 2, … get them.
absl::StatusOr<std::vector<std::vector<size_t>>> ReadOrders(const std::string& path);

}  // namespace rung
