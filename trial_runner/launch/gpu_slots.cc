#include "trial_runner/launch/gpu_slots.h"

namespace rung {

std::optional<std::vector<std::string>> GpuSlots::Take(AttemptId attempt, int32_t count) {
  std::vector<size_t> free;
  for (size_t i = 0; i < gpus_.size() && free.size() < static_cast<size_t>(count); ++i) {
    if (!holders_.contains(i)) free.push_back(i);
  }
  if (free.size() < static_cast<size_t>(count)) return std::nullopt;
  std::vector<std::string> uuids;
  for (const size_t i : free) {
    holders_.emplace(i, attempt);
    uuids.push_back(gpus_[i].uuid);
  }
  return uuids;
}

void GpuSlots::Release(AttemptId attempt) {
  std::erase_if(holders_, [&](const auto& held) { return held.second == attempt; });
}

}  // namespace rung
