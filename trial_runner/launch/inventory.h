#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/resources.h"
#include "trial_runner/launch/nvml.h"

/// What this machine offers to trials.
namespace rung {

/// Amounts that an operator sets instead of what is found; absent: as found.
struct InventoryOverrides {
  std::optional<int64_t> milli_cpus{};
  std::optional<int64_t> memory_bytes{};
  std::optional<int32_t> gpus{};
};

struct Inventory {
  Resources total;
  std::vector<Gpu> gpus;           ///< total.gpus of them
  std::vector<std::string> notes;  ///< for the log: what was not found, what was overridden
};

/// CPUs of the process's affinity mask, memory of the machine or of its cgroup's limit, GPUs by
/// NVML. An override of GPUs takes the first ones; what it names beyond those found gets its index
/// in place of an UUID, for drivers that NVML does not see and for tests.
Inventory TakeInventory(const InventoryOverrides& overrides);

}  // namespace rung
