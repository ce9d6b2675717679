#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bert {

/// A whole file mapped read-only and shared: two trials on one machine hold its pages once.
class MemoryMap {
 public:
  /// Errors: NOT_FOUND when the file cannot be opened, INVALID_ARGUMENT when it is empty,
  /// UNAVAILABLE when the mapping fails.
  static absl::StatusOr<MemoryMap> Open(const std::string& path);

  MemoryMap(MemoryMap&& other) noexcept;
  MemoryMap& operator=(MemoryMap&& other) noexcept;
  ~MemoryMap();

  /// Valid while this object lives, also after a move of it.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MemoryMap(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

/// A 64-bit fingerprint by which a cache knows its inputs; against accidents, not against attack.
uint64_t Fingerprint(std::span<const std::byte> bytes);

}  // namespace bert
