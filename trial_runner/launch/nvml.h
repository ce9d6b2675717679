#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// NVIDIA's management library, opened at run time: a machine without a driver simply has no GPUs.
namespace rung {

struct Gpu {
  std::string uuid;  ///< `GPU-…`: what CUDA_VISIBLE_DEVICES takes; indices differ between tools
  std::string name{};
  int32_t index = 0;  ///< in the driver's order, of GPUs that do not answer too
};

/// The GPUs in the driver's order (PCI bus), from $RUNG_NVML_PATH or libnvidia-ml.so.1. Empty
/// without the library or the driver; `note` then says which, for the log.
std::vector<Gpu> FindGpus(std::string& note);

}  // namespace rung
