#include "trial_runner/launch/visible_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace rung {
namespace {

std::string_view Stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<int32_t> IndexOf(std::string_view entry) {
  int32_t index = -1;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (error != std::errc() || end != entry.data() + entry.size()) return std::nullopt;
  return index;
}

/// Null when it names none, or more than one.
const Gpu* Named(const std::vector<Gpu>& found, std::string_view entry) {
  const std::optional<int32_t> index = IndexOf(entry);
  const auto matches = [&](const Gpu& gpu) {
    return index ? gpu.index == *index : gpu.uuid.starts_with(entry);
  };
  if (!index && !entry.starts_with("GPU-")) return nullptr;
  if (std::ranges::count_if(found, matches) != 1) return nullptr;
  return &*std::ranges::find_if(found, matches);
}

}  // namespace

std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& found, std::string_view list,
                             std::string& note) {
  std::vector<Gpu> visible;
  while (!Stripped(list).empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view entry = Stripped(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (entry == "-1") break;
    const Gpu* gpu = Named(found, entry);
    if (gpu == nullptr) {
      note =
          entry.starts_with("MIG-")
              ? "CUDA_VISIBLE_DEVICES: MIG devices come with a later version; the list ends there"
              : fmt::format(
                    "CUDA_VISIBLE_DEVICES: '{}' does not name one GPU of this machine; "
                    "the list ends there, as in CUDA",
                    entry);
      break;
    }
    if (std::ranges::count(visible, gpu->index, &Gpu::index) > 0) {
      note = fmt::format(
          "CUDA_VISIBLE_DEVICES: '{}' names a GPU again; as in CUDA that leaves none", entry);
      return {};
    }
    visible.push_back(*gpu);
  }
  return visible;
}

}  // namespace rung
