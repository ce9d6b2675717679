#include "bench/paired_bootstrap.h"

#include <algorithm>

#include "core/check.h"
#include "core/counter_random.h"

namespace rung {

Interval PairedBootstrap(const std::vector<double>& differences) {
  RUNG_CHECK(!differences.empty());
  constexpr size_t kResamples = 2'000;
  const size_t n = differences.size();
  CounterRandom random({.seed = 0, .trial = {0}, .redraw = 0, .name = "bench.paired_bootstrap"});
  std::vector<double> means(kResamples);
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += differences[random.NextBelow(n)];
    mean = sum / static_cast<double>(n);
  }
  std::ranges::sort(means);
  constexpr size_t kTail = kResamples / 40;  // 2.5 % on either side
  return {.low = means[kTail], .high = means[kResamples - 1 - kTail]};
}

}  // namespace rung
