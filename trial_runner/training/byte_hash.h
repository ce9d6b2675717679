#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rung::training {

/// 64 bits of `bytes`, little endian, for finding differences and damage (not attackers). Texts of
/// one length that differ in one 8-byte word always differ here. About 4 GB/s.
inline std::uint64_t ByteHash(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;  // multiplying by an odd number loses nothing
  std::uint64_t hash = bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t taken = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), taken);
    hash = std::rotl((hash ^ word) * kOdd, 29);
    bytes = bytes.subspan(taken);
  }
  return hash;
}

}  // namespace rung::training
