#pragma once

#include <compare>
#include <cstdint>

/// Amounts of a machine: what a process asks for and what a worker offers. Never slots, which each
/// worker derives from them (research and field: fractions and kinds of slots age badly on a wire).
namespace rung {

struct Resources {
  int64_t milli_cpus = 0;    ///< thousandths of a core; 1000 is one core
  int64_t memory_bytes = 0;  ///< 0: not asked for, or not known
  int32_t gpus = 0;          ///< whole GPUs
  auto operator<=>(const Resources&) const = default;
};

}  // namespace rung
