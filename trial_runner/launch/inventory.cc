#include "trial_runner/launch/inventory.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "trial_runner/launch/visible_gpus.h"

namespace rung {
namespace {

constexpr size_t kGpusMax = 1'024;

int64_t AffinityCpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) {
    return std::max<int64_t>(sysconf(_SC_NPROCESSORS_ONLN), 1);  // more CPUs than the set holds
  }
  return std::max(CPU_COUNT(&cpus), 1);
}

int64_t MemoryBytes() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

/// Up to `count` GPUs, the new ones with the indices that are free, in place of an UUID too.
void AddByIndex(size_t count, std::vector<Gpu>& gpus) {
  for (int32_t index = 0; gpus.size() < count; ++index) {
    if (std::ranges::count(gpus, index, &Gpu::index) > 0) continue;
    gpus.push_back({.uuid = std::to_string(index), .name = "unknown", .index = index});
  }
}

}  // namespace

Inventory TakeInventory(const InventoryOverrides& overrides) {
  Inventory inventory;
  std::string note;
  inventory.gpus = FindGpus(note);
  if (!note.empty()) inventory.notes.push_back(note);
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const size_t found = inventory.gpus.size();
  const size_t wanted = static_cast<size_t>(std::max(overrides.gpus.value_or(0), 0));
  if (wanted > found) {
    inventory.notes.push_back(
        fmt::format("--gpus {}: {} found, the others go by their index", wanted, found));
    AddByIndex(visible == nullptr ? wanted : kGpusMax, inventory.gpus);
  }
  if (visible != nullptr) {
    note.clear();
    inventory.gpus = VisibleGpus(inventory.gpus, visible, note);
    if (!note.empty()) inventory.notes.push_back(note);
    inventory.notes.push_back(fmt::format("CUDA_VISIBLE_DEVICES '{}' leaves {} of {} GPUs", visible,
                                          inventory.gpus.size(), std::max(found, wanted)));
  }
  if (overrides.gpus) inventory.gpus.resize(std::min(wanted, inventory.gpus.size()));
  inventory.total = {.milli_cpus = overrides.milli_cpus.value_or(AffinityCpus() * 1000),
                     .memory_bytes = overrides.memory_bytes.value_or(MemoryBytes()),
                     .gpus = static_cast<int32_t>(inventory.gpus.size())};
  return inventory;
}

}  // namespace rung
