#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/launch/nvml.h"

/// Which GPUs CUDA_VISIBLE_DEVICES leaves to a worker: those that a CUDA program in its place would
/// see, so that one variable keeps the workers of a machine apart.
namespace rung {

/// Those of `found` that `list`, the variable's value, names, in its order. An entry is an index
/// (Gpu::index: in the order of PCI buses, as CUDA_DEVICE_ORDER=PCI_BUS_ID and nvidia-smi count) or
/// a UUID, or so much of its beginning that no other GPU shares it. As in CUDA the list ends before
/// the first entry that names no GPU, or more than one, and before −1; a GPU named twice leaves
/// none. `note` then says so, for the log. MIG devices come with a later version: they name no GPU.
///
/// Source: CUDA C++ Programming Guide, "CUDA Environment Variables"; for repeated entries
/// torch.cuda._parse_visible_devices, which mirrors the driver.
std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& found, std::string_view list,
                             std::string& note);

}  // namespace rung
