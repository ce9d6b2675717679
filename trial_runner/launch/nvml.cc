#include "trial_runner/launch/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace rung {
namespace {

// Own declarations of the part of NVML's stable C interface used here: its header is not free.
using NvmlResult = int;  // 0 is success
using NvmlDevice = void*;
constexpr unsigned kTextBytes = 96;

struct NvmlLibrary {
  NvmlResult (*init)() = nullptr;
  NvmlResult (*shutdown)() = nullptr;
  NvmlResult (*device_count)(unsigned*) = nullptr;
  NvmlResult (*device_by_index)(unsigned, NvmlDevice*) = nullptr;
  NvmlResult (*device_uuid)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlResult (*device_name)(NvmlDevice, char*, unsigned) = nullptr;
};

template <typename Function>
bool Resolve(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

bool ResolveAll(void* library, NvmlLibrary& nvml) {
  return Resolve(library, "nvmlInit_v2", nvml.init) &&
         Resolve(library, "nvmlShutdown", nvml.shutdown) &&
         Resolve(library, "nvmlDeviceGetCount_v2", nvml.device_count) &&
         Resolve(library, "nvmlDeviceGetHandleByIndex_v2", nvml.device_by_index) &&
         Resolve(library, "nvmlDeviceGetUUID", nvml.device_uuid) &&
         Resolve(library, "nvmlDeviceGetName", nvml.device_name);
}

std::vector<Gpu> ReadGpus(const NvmlLibrary& nvml, std::string& note) {
  std::vector<Gpu> gpus;
  unsigned count = 0;
  if (const NvmlResult result = nvml.device_count(&count); result != 0) {
    note = fmt::format("NVML cannot count the GPUs (result {})", result);
    return gpus;
  }
  for (unsigned index = 0; index < count; ++index) {
    NvmlDevice device = nullptr;
    char uuid[kTextBytes] = "";
    char name[kTextBytes] = "";
    if (nvml.device_by_index(index, &device) != 0 ||
        nvml.device_uuid(device, uuid, kTextBytes) != 0) {
      note += fmt::format("GPU {} does not answer and is left out; ", index);
      continue;
    }
    // A name that cannot be read does not keep a GPU from training.
    if (nvml.device_name(device, name, kTextBytes) != 0) name[0] = '\0';
    gpus.push_back({.uuid = uuid, .name = name, .index = static_cast<int32_t>(index)});
  }
  return gpus;
}

}  // namespace

std::vector<Gpu> FindGpus(std::string& note) {
  const char* configured = std::getenv("RUNG_NVML_PATH");
  const char* path =
      configured != nullptr && *configured != '\0' ? configured : "libnvidia-ml.so.1";
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    note = fmt::format("no NVML library: {}", dlerror());
    return {};
  }
  std::vector<Gpu> gpus;
  NvmlLibrary nvml;
  if (!ResolveAll(library, nvml)) {
    note = fmt::format("'{}' lacks a function of NVML: {}", path, dlerror());
  } else if (const NvmlResult result = nvml.init(); result != 0) {
    note = fmt::format("NVML does not start (result {})", result);
  } else {
    gpus = ReadGpus(nvml, note);
    nvml.shutdown();
  }
  dlclose(library);
  return gpus;
}

}  // namespace rung
