#pragma once

#include <cstdint>

namespace rung::training {

/// An independent 64-bit seed for `stream` of `seed`, e.g.
/// at::manual_seed(DeriveSeed(DeriveSeed(seed, rank), step)): ranks draw different dropout masks, a
/// resumed attempt does not repeat old ones. Source: the output function of SplitMix64 (Steele, Lea
/// and Flood, OOPSLA 2014).
constexpr std::uint64_t DeriveSeed(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t z = seed + (stream + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace rung::training
