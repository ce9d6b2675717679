#include "search/normal_quantile.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rung {
namespace {

TEST(NormalQuantile, GivesTheTabulatedValues) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-15);
  EXPECT_NEAR(NormalQuantile(0.25), -0.6744897501960817, 1e-15);
}

TEST(NormalQuantile, InvertsTheDistributionFunction) {
  for (double fraction = 0x1p-20; fraction < 1; fraction += 0x1p-10) {
    EXPECT_NEAR(0.5 * std::erfc(-NormalQuantile(fraction) / std::sqrt(2.0)), fraction, 1e-14);
  }
}

TEST(NormalQuantile, IsFiniteAndSymmetricToTheEnds) {
  constexpr double kWidth = 0x1p-53;
  EXPECT_NEAR(NormalQuantile(0), -8.29236107581, 1e-10);  // Φ of it is 2^−54
  for (double fraction = 0; fraction < 0.5; fraction = fraction * 2 + kWidth) {
    EXPECT_EQ(NormalQuantile(1 - kWidth - fraction), -NormalQuantile(fraction)) << fraction;
  }
}

}  // namespace
}  // namespace rung
