#include "core/counter_random.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace rung {
namespace {

// The known-answer vectors that Random123 publishes for philox4x32-10 (kat_vectors).
TEST(CounterRandom, ThePhiloxBelowIsThePublishedOne) {
  const philox4x32_ctr_t zero_counter = {{0, 0, 0, 0}};
  const philox4x32_key_t zero_key = {{0, 0}};
  const philox4x32_ctr_t zeros = philox4x32(zero_counter, zero_key);
  EXPECT_EQ(zeros.v[0], 0x6627e8d5U);
  EXPECT_EQ(zeros.v[3], 0x9b00dbd8U);
  const philox4x32_ctr_t pi_counter = {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
  const philox4x32_key_t pi_key = {{0xa4093822, 0x299f31d0}};
  const philox4x32_ctr_t pi = philox4x32(pi_counter, pi_key);
  EXPECT_EQ(pi.v[0], 0xd16cfe09U);
  EXPECT_EQ(pi.v[3], 0x24126ea1U);
}

std::vector<uint64_t> First(const RandomKey& key) {
  CounterRandom random(key);
  return {random.NextBits(), random.NextBits(), random.NextBits()};
}

TEST(CounterRandom, EqualKeysGiveEqualStreamsAndEveryPartOfTheKeyCounts) {
  const RandomKey key{.seed = 7, .trial = {3}, .redraw = 1, .name = "lr"};
  EXPECT_EQ(First(key), First(key));
  for (const RandomKey& other :
       {RandomKey{.seed = 8, .trial = {3}, .redraw = 1, .name = "lr"},
        RandomKey{.seed = 7 - (int64_t{1} << 40), .trial = {3}, .redraw = 1, .name = "lr"},
        RandomKey{.seed = 7, .trial = {4}, .redraw = 1, .name = "lr"},
        RandomKey{.seed = 7, .trial = {3}, .redraw = 2, .name = "lr"},
        RandomKey{.seed = 7, .trial = {3}, .redraw = 1, .name = "lR"},
        RandomKey{.seed = 7, .trial = {1}, .redraw = 3, .name = "lr"}}) {
    EXPECT_NE(First(key), First(other));
  }
}

TEST(CounterRandom, NextBelowGivesEveryNumberBelowItsBoundEquallyOften) {
  // 50,000 draws below 5: 10,000 expected each, standard deviation sqrt(50000·0.2·0.8) = 89.4;
  // 6 of them are 537.
  CounterRandom random({.seed = 1, .trial = {0}, .redraw = 0, .name = "odds"});
  std::array<int, 5> counts{};
  for (int i = 0; i < 50'000; ++i) ++counts.at(random.NextBelow(5));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 537);
}

TEST(CounterRandom, NextBelowTakesAnyBound) {
  CounterRandom random({.seed = 1, .trial = {0}, .redraw = 0, .name = "bounds"});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.NextBelow(1), 0U);
  for (int i = 0; i < 100; ++i)
    EXPECT_LT(random.NextBelow((uint64_t{1} << 63) + 1), (uint64_t{1} << 63) + 1);
  EXPECT_NO_FATAL_FAILURE(random.NextBelow(~uint64_t{0}));
}

TEST(CounterRandom, UnitsLieInZeroToOne) {
  CounterRandom random({.seed = -1, .trial = {9}, .redraw = 0, .name = "unit"});
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double unit = random.NextUnit();
    ASSERT_GE(unit, 0.0);
    ASSERT_LT(unit, 1.0);
    sum += unit;
  }
  // The mean of 1e5 draws has standard deviation 1/sqrt(12e5) = 0.00091.
  EXPECT_NEAR(sum / 100'000, 0.5, 0.006);
}

}  // namespace
}  // namespace rung
