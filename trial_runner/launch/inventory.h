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
/// NVML, of which CUDA_VISIBLE_DEVICES, when it is set, leaves some (visible_gpus.h). An override
/// of GPUs takes the first ones; the indices that NVML does not find stand for themselves then, for
/// drivers that it does not see and for tests.
Inventory TakeInventory(const InventoryOverrides& overrides);

}  // namespace rung
