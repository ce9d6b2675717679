#pragma once

#include <cstdint>
#include <string_view>

/// Owen's nested uniform scrambling of a coordinate's binary digits.
///
/// Source: Owen, "Randomly permuted (t,m,s)-nets and (t,s)-sequences" (1995). Every digit is
/// flipped or not by a fair bit of its own for each value of the digits before it. A point is then
/// uniform in the cube, and the points together stay as even as they were; a different key gives an
/// independent set.
namespace rung {

/// Which scrambling: one for each coordinate of each independent set.
struct ScramblingKey {
  int64_t seed = 0;
  int32_t set = 0;
  std::string_view name;  ///< of the coordinate
};

/// The scrambled coordinate, in [0, 1), with 53 digits of which the last 21 are random alone.
///
/// By the streams of core/counter_random.h: with d the first k digits of `digits`, digit k is
/// flipped by the highest bit of the first number of the stream {seed, trial: 2^k + d, redraw: set,
/// name}. The 21 digits behind the last one are the highest of that stream's second number where
/// the last digit of `digits` is 0, and of its third where it is 1.
double ScrambleDigits(uint32_t digits, const ScramblingKey& key);

}  // namespace rung
