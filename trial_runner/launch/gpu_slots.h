#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "trial_runner/launch/nvml.h"

/// Which attempt holds which GPU.
namespace rung {

class GpuSlots {
 public:
  explicit GpuSlots(std::vector<Gpu> gpus) : gpus_(std::move(gpus)) {}

  /// UUIDs of `count` free GPUs, neighbours first, now held by `attempt` (which holds none yet).
  /// nullopt, and nothing held, when fewer are free.
  std::optional<std::vector<std::string>> Take(AttemptId attempt, int32_t count);
  /// Gives back what `attempt` holds, if anything.
  void Release(AttemptId attempt);

 private:
  std::vector<Gpu> gpus_;
  std::map<size_t, AttemptId> holders_;  ///< by index in gpus_
};

}  // namespace rung
