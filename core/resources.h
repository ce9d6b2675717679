#pragma once

#include <compare>
#include <cstdint>
#include <limits>

/// Amounts of a machine: what a process asks for and what a worker offers. Never slots, which each
/// worker derives from them (research and field: fractions and kinds of slots age badly on a wire).
namespace rung {

struct Resources {
  int64_t milli_cpus = 0;    ///< thousandths of a core; 1000 is one core
  int64_t memory_bytes = 0;  ///< 0: not asked for, or not known
  int32_t gpus = 0;          ///< whole GPUs
  auto operator<=>(const Resources&) const = default;

  /// What `processes` (at least 1) ask for together. More memory than int64_t holds is its largest
  /// value: more than any machine has.
  constexpr Resources Times(int32_t processes) const {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    return {.milli_cpus = milli_cpus * processes,
            .memory_bytes = memory_bytes > kMost / processes ? kMost : memory_bytes * processes,
            .gpus = gpus * processes};
  }
};

}  // namespace rung
