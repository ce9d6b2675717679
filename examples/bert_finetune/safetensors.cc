#include "examples/bert_finetune/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <nlohmann/json.hpp>

namespace bert {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

/// Bytes of one element; 0 for a type that the format does not have.
uint64_t ElementBytes(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL") return 1;
  return 0;
}

/// Bytes that a tensor of `shape` takes, or nullopt on a negative dimension or an overflow.
bool TensorBytes(const std::vector<int64_t>& shape, uint64_t element_bytes, uint64_t& bytes) {
  bytes = element_bytes;
  for (const int64_t dimension : shape) {
    if (dimension < 0) return false;
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dimension), &bytes)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Safetensors> Safetensors::Open(const std::string& path) {
  absl::StatusOr<MemoryMap> map = MemoryMap::Open(path);
  if (!map.ok()) return map.status();
  Safetensors file(path, *std::move(map));
  const std::span<const std::byte> bytes = file.map_.bytes();
  const auto invalid = [&](const std::string& what) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", path, what));
  };

  uint64_t header_bytes = 0;
  if (bytes.size() < sizeof header_bytes) return invalid("too short for a safetensors header");
  std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
  if (header_bytes > kMaxHeaderBytes || header_bytes > bytes.size() - sizeof header_bytes) {
    return invalid(
        fmt::format("header length {} exceeds the file's {} bytes", header_bytes, bytes.size()));
  }
  const auto* header = reinterpret_cast<const char*>(bytes.data()) + sizeof header_bytes;
  const std::span<const std::byte> data = bytes.subspan(sizeof header_bytes + header_bytes);
  try {
    const auto root = nlohmann::json::parse(header, header + header_bytes);
    for (const auto& [name, value] : root.items()) {
      if (name == "__metadata__") continue;
      Entry entry{value.at("dtype").get<std::string>(), value.at("shape"), {}};
      const auto begin = value.at("data_offsets").at(0).get<uint64_t>();
      const auto end = value.at("data_offsets").at(1).get<uint64_t>();
      const uint64_t element_bytes = ElementBytes(entry.dtype);
      uint64_t expected = 0;
      if (element_bytes == 0) {
        return invalid(fmt::format("tensor {}: unknown dtype {}", name, entry.dtype));
      }
      if (begin > end || end > data.size()) {
        return invalid(fmt::format("tensor {}: data_offsets [{}, {}] leave the {} data bytes", name,
                                   begin, end, data.size()));
      }
      if (!TensorBytes(entry.shape, element_bytes, expected) || expected != end - begin) {
        return invalid(fmt::format("tensor {}: shape [{}] of {} does not take {} bytes", name,
                                   fmt::join(entry.shape, ", "), entry.dtype, end - begin));
      }
      entry.data = data.subspan(begin, end - begin);
      file.entries_.emplace(name, std::move(entry));
    }
  } catch (const nlohmann::json::exception& error) {
    return invalid(fmt::format("header is no safetensors JSON: {}", error.what()));
  }
  return file;
}

absl::StatusOr<std::span<const float>> Safetensors::Floats(std::string_view name,
                                                           std::span<const int64_t> shape) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    return absl::NotFoundError(
        fmt::format("{}: no tensor {} among its {}", path_, name, entries_.size()));
  }
  const Entry& entry = found->second;
  if (entry.dtype != "F32") {
    return absl::InvalidArgumentError(
        fmt::format("{}: tensor {} must be F32, found {}", path_, name, entry.dtype));
  }
  if (!std::equal(shape.begin(), shape.end(), entry.shape.begin(), entry.shape.end())) {
    return absl::InvalidArgumentError(fmt::format("{}: tensor {} must have shape [{}], found [{}]",
                                                  path_, name, fmt::join(shape, ", "),
                                                  fmt::join(entry.shape, ", ")));
  }
  if (reinterpret_cast<uintptr_t>(entry.data.data()) % alignof(float) != 0) {
    return absl::InvalidArgumentError(fmt::format("{}: tensor {} is not aligned", path_, name));
  }
  return std::span(reinterpret_cast<const float*>(entry.data.data()),
                   entry.data.size() / sizeof(float));
}

}  // namespace bert
