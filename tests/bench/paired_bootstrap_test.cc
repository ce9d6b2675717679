#include "bench/paired_bootstrap.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

TEST(PairedBootstrap, OfEqualDifferencesIsAPoint) {
  const Interval interval = PairedBootstrap(std::vector<double>(30, 2.5));
  EXPECT_EQ(interval.low, 2.5);
  EXPECT_EQ(interval.high, 2.5);
}

TEST(PairedBootstrap, IsAsWideAsTheStandardErrorSays) {
  // 15 times −1 and 15 times 1: the mean of 30 draws has the sd 1/√30 = 0.183, so that 95 % lie
  // within ±0.358; the means are multiples of 2/30, and 5/15 and 6/15 are the ones next to it.
  std::vector<double> differences(15, -1.0);
  differences.insert(differences.end(), 15, 1.0);
  const Interval interval = PairedBootstrap(differences);
  EXPECT_NEAR(interval.low, -0.36, 0.05);
  EXPECT_NEAR(interval.high, 0.36, 0.05);
}

TEST(PairedBootstrap, GivesTheSameIntervalAgain) {
  const std::vector<double> differences{0.25, -1, 3, 0.5, 2};
  const Interval first = PairedBootstrap(differences);
  const Interval second = PairedBootstrap(differences);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
}

}  // namespace
}  // namespace rung
