#include "trial_runner/launch/inventory.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace rung {
namespace {

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

}  // namespace

Inventory TakeInventory(const InventoryOverrides& overrides) {
  Inventory inventory;
  std::string note;
  inventory.gpus = FindGpus(note);
  if (!note.empty()) inventory.notes.push_back(note);
  if (overrides.gpus) {
    const size_t wanted = static_cast<size_t>(std::max(*overrides.gpus, 0));
    if (wanted > inventory.gpus.size()) {
      inventory.notes.push_back(fmt::format("--gpus {}: {} found, the others go by their index",
                                            wanted, inventory.gpus.size()));
    }
    while (inventory.gpus.size() < wanted) {
      inventory.gpus.push_back({.uuid = std::to_string(inventory.gpus.size()), .name = "unknown"});
    }
    inventory.gpus.resize(wanted);
  }
  inventory.total = {.milli_cpus = overrides.milli_cpus.value_or(AffinityCpus() * 1000),
                     .memory_bytes = overrides.memory_bytes.value_or(MemoryBytes()),
                     .gpus = static_cast<int32_t>(inventory.gpus.size())};
  return inventory;
}

}  // namespace rung
