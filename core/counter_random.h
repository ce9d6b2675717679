#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/ids.h"

/// Random numbers without hidden state: a stream is a function of its key alone, so a draw does
/// not depend on what was drawn before, on threads, on a restart or on the machine.
///
/// Source: Philox4x32-10 of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011),
/// by Random123. With P(counter, key) for it, h for the 64-bit FNV-1a hash of the name's bytes, and
/// lo, hi for halves of 32 bits:
///   stream key = the first two words of P({lo(h), hi(h), 0, 1}, {lo(seed), hi(seed)})
///   block b    = P({trial, redraw, b, 0}, stream key) = four words, two numbers of 64 bits,
///                each with its low half first.
namespace rung {

struct RandomKey {
  int64_t seed = 0;
  TrialNumber trial;
  int32_t redraw = 0;  ///< which attempt at drawing this trial's value
  std::string_view name;
};

class CounterRandom {
 public:
  explicit CounterRandom(const RandomKey& key);

  /// The stream's next 64 bits.
  uint64_t NextBits();
  /// The upper 53 of the next 64 bits as a number in [0, 1).
  double NextUnit();
  /// An integer in [0, bound), each equally likely: bits above those that bound − 1 needs are
  /// masked off and numbers that are still too large are drawn again. `bound` ≥ 1.
  uint64_t NextBelow(uint64_t bound);

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint64_t, 2> block_ = {};
  size_t used_ = 2;  ///< how many numbers of block_ are used up
};

}  // namespace rung
