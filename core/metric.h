#pragma once

#include <cstdint>
#include <string>

/// What a trial reports.
namespace rung {

/// Finished units of training, from 1 (the first report of an epoch-wise trial is step 1).
using Steps = int64_t;

/// One named value at a step. `value` may be NaN or infinite. `count` weights a mean over ranks by
/// a number of samples; 1 unless the trial says otherwise.
struct MetricValue {
  std::string name;
  double value = 0;
  int64_t count = 1;
};

/// How the reports of several ranks make one value.
enum class Reduce { kRank0, kMean, kMin, kMax };

/// Whether `a` and `b` are one value: equal, or both NaN.
bool SameValue(double a, double b);

}  // namespace rung
