#include "search/nested_scrambling.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <string>

namespace rung {
namespace {

/// The first 32 digits of the scrambled coordinate.
uint32_t Digits(uint32_t digits, const ScramblingKey& key) {
  return static_cast<uint32_t>(ScrambleDigits(digits, key) * 0x1p32);
}

constexpr ScramblingKey kKey = {.seed = 7, .set = 0, .name = "rung.sobol.lr"};

TEST(NestedScrambling, KeepsExactlyTheDigitsThatTwoCoordinatesShare) {
  for (uint32_t k = 0; k < 32; ++k) {
    const uint32_t a = 0x5A3C96F1;
    const uint32_t b = a ^ (uint32_t{1} << (31 - k));  // they differ first in digit k
    const uint32_t differs = Digits(a, kKey) ^ Digits(b, kKey);
    ASSERT_NE(differs, 0U) << k;
    EXPECT_EQ(std::countl_zero(differs), static_cast<int>(k));
  }
}

TEST(NestedScrambling, IsAFunctionOfItsKey) {
  EXPECT_EQ(ScrambleDigits(123, kKey), ScrambleDigits(123, kKey));
  std::set<double> different = {ScrambleDigits(123, kKey)};
  EXPECT_TRUE(different.insert(ScrambleDigits(123, {8, 0, kKey.name})).second);
  EXPECT_TRUE(different.insert(ScrambleDigits(123, {7, 1, kKey.name})).second);
  EXPECT_TRUE(different.insert(ScrambleDigits(123, {7, 0, "rung.sobol.wd"})).second);
}

TEST(NestedScrambling, FlipsEveryDigitInHalfOfTheKeys) {
  constexpr int kKeys = 4000;
  for (const uint32_t digits : {0U, 0xFFFFFFFFU, 0x80000001U}) {
    for (uint32_t k = 0; k < 32; k += 5) {
      int ones = 0;
      for (int seed = 0; seed < kKeys; ++seed) {
        ones += static_cast<int>(Digits(digits, {seed, 0, "p"}) >> (31 - k) & 1U);
      }
      // 2000 ± 5 standard deviations of √(4000/4) = 31.6.
      EXPECT_LT(std::abs(ones - kKeys / 2), 158) << digits << " digit " << k;
    }
  }
}

TEST(NestedScrambling, FillsTheDigitsBehindTheLastOneAtRandom) {
  double sum = 0;
  for (uint32_t i = 0; i < 4000; ++i) {
    const double scaled = ScrambleDigits(i, kKey) * 0x1p32;
    sum += scaled - std::floor(scaled);
  }
  EXPECT_NEAR(sum / 4000, 0.5, 5 * 0.2887 / std::sqrt(4000.0));  // uniform: deviation 1/√12
}

}  // namespace
}  // namespace rung
