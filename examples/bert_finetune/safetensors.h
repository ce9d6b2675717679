#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/bert_finetune/memory_map.h"

namespace bert {

/// A read-only, memory-mapped safetensors file of float32 weights.
///
/// Source: the format of huggingface/safetensors: u64 header length (little endian), a JSON object
/// name → {dtype, shape, data_offsets}, then the data. Offsets are checked here once, so that a
/// tensor handed out lies inside the file and holds as many bytes as its shape says.
class Safetensors {
 public:
  /// Errors: NOT_FOUND (no file), INVALID_ARGUMENT naming what is wrong with the header or with a
  /// tensor's entry.
  static absl::StatusOr<Safetensors> Open(const std::string& path);

  /// The values of tensor `name`, row-major. Errors: NOT_FOUND when there is none of that name,
  /// INVALID_ARGUMENT when it is not float32 of exactly `shape`.
  absl::StatusOr<std::span<const float>> Floats(std::string_view name,
                                                std::span<const int64_t> shape) const;

  std::span<const std::byte> file_bytes() const { return map_.bytes(); }

 private:
  struct Entry {
    std::string dtype;
    std::vector<int64_t> shape;
    std::span<const std::byte> data;
  };

  Safetensors(std::string path, MemoryMap map) : path_(std::move(path)), map_(std::move(map)) {}

  std::string path_;
  MemoryMap map_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace bert
