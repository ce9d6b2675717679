#include "trial_runner/launch/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

#include "core/check.h"

namespace rung {
namespace {

constexpr rlim_t kDescriptorsMax = 1 << 20;

}  // namespace

int64_t RaiseDescriptorLimit() {
  rlimit limit{};
  RUNG_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);  // fails for bad arguments alone
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::max(before, std::min(limit.rlim_max, kDescriptorsMax));
  // A sandbox may forbid it. The worker then runs fewer ranks, and says so when it cannot start
  // one.
  [[maybe_unused]] const int result = setrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int64_t>(std::min<rlim_t>(before, INT64_MAX));
}

}  // namespace rung
