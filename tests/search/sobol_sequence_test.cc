#include "search/sobol_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace rung {
namespace {

using ::testing::ElementsAre;

std::vector<double> Coordinates(const SobolSequence& sequence, size_t dimension, uint32_t points) {
  std::vector<double> coordinates;
  for (uint32_t i = 0; i < points; ++i) coordinates.push_back(sequence.At(i, dimension) * 0x1p-32);
  return coordinates;
}

TEST(SobolSequence, BeginsAsPublished) {
  const SobolSequence sequence(3);
  // The Gray-code order of Antonov and Saleev with the direction numbers of Joe and Kuo:
  // dimension 0 has 1/2, 1/4, 1/8; dimension 1 (polynomial x + 1, m = 1, 3, 5) 1/2, 3/4, 5/8;
  // dimension 2 (polynomial x² + x + 1, m = 1, 3, 2·3 ^ 4·1 ^ 1 = 3) 1/2, 3/4, 3/8.
  EXPECT_THAT(Coordinates(sequence, 0, 8), ElementsAre(0, .5, .75, .25, .375, .875, .625, .125));
  EXPECT_THAT(Coordinates(sequence, 1, 8), ElementsAre(0, .5, .25, .75, .375, .875, .125, .625));
  EXPECT_THAT(Coordinates(sequence, 2, 8), ElementsAre(0, .5, .25, .75, .625, .125, .875, .375));
}

TEST(SobolSequence, EachCoordinateFillsEveryCellOfAPowerOfTwoOnce) {
  const SobolSequence sequence(SobolSequence::kDimensionsMax);
  for (size_t dimension = 0; dimension < SobolSequence::kDimensionsMax; dimension += 37) {
    std::set<uint32_t> cells;
    for (uint32_t i = 0; i < 256; ++i) cells.insert(sequence.At(i, dimension) >> 24U);
    ASSERT_EQ(cells.size(), 256U) << dimension;
  }
}

TEST(SobolSequence, FirstTwoCoordinatesFillEveryRectangleOfOneArea) {
  const SobolSequence sequence(2);
  // 64 points are a (0, 6, 2)-net: every box of 2^-a by 2^-(6-a) has exactly one.
  for (uint32_t a = 0; a <= 6; ++a) {
    std::set<uint32_t> boxes;
    for (uint32_t i = 0; i < 64; ++i) {
      const auto x = static_cast<uint32_t>(uint64_t{sequence.At(i, 0)} >> (32 - a));
      const auto y = static_cast<uint32_t>(uint64_t{sequence.At(i, 1)} >> (26 + a));
      boxes.insert(x << 6U | y);
    }
    EXPECT_EQ(boxes.size(), 64U) << a;
  }
}

}  // namespace
}  // namespace rung
