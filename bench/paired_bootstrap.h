#pragma once

#include <cstdint>
#include <vector>

/// How sure a mean difference is that was measured on few seeds.
namespace rung {

struct Interval {
  double low = 0;
  double high = 0;
};

/// The percentile bootstrap interval (95 %) of the mean of `differences`, one for each seed of two
/// rules that ran on the same configurations: the seeds are drawn again with replacement 2,000
/// times. Equal input gives equal output. `differences` must not be empty.
///
/// Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
Interval PairedBootstrap(const std::vector<double>& differences);

}  // namespace rung
