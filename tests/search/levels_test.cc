#include "search/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Steps> Levels(Steps max_t, Steps grace_period, int64_t reduction_factor) {
  return RungLevels({max_t, grace_period, reduction_factor});
}

TEST(Levels, AreMultipliedAndStayBelowTheEnd) {
  EXPECT_THAT(Levels(100, 10, 3), ElementsAre(10, 30, 90));
  EXPECT_THAT(Levels(243, 1, 3), ElementsAre(1, 3, 9, 27, 81));
  EXPECT_THAT(Levels(244, 1, 3), ElementsAre(1, 3, 9, 27, 81, 243));
  EXPECT_THAT(Levels(1000, 1, 10), ElementsAre(1, 10, 100));
  EXPECT_THAT(Levels(1001, 1, 10), ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(Levels(100, 100, 3), IsEmpty());
  EXPECT_THAT(Levels(1, 1, 2), IsEmpty());
}

TEST(Levels, DoNotOverflow) {
  constexpr Steps kMax = std::numeric_limits<Steps>::max();
  // 2^0 … 2^62 are below 2^63 − 1.
  EXPECT_EQ(Levels(kMax, 1, 2).size(), 63U);
  EXPECT_THAT(Levels(kMax, kMax - 1, kMax), ElementsAre(kMax - 1));
}

TEST(Levels, AreRightAroundEveryPower) {
  // Around R = r·η^k: level r·η^k is there for R one more, and gone at R itself. With sanitizers
  // above 100 only every 97th r: all of them would take half a minute.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr Steps kBeyond100 = 97;
#else
  constexpr Steps kBeyond100 = 1;
#endif
  for (int64_t eta = 2; eta <= 10; ++eta) {
    for (Steps r = 1; r <= 10'000; r += r < 100 ? 1 : kBeyond100) {
      std::vector<Steps> expected;
      Steps power = r;
      for (int k = 0; k < 8; ++k) {
        if (power > r) {
          std::vector<Steps> below = expected;
          if (below.back() == power - 1) below.pop_back();  // r = 1, η = 2: levels 1 and 2
          ASSERT_EQ(Levels(power - 1, r, eta), below) << r << ' ' << eta << ' ' << k;
        }
        ASSERT_EQ(Levels(power, r, eta), expected) << r << ' ' << eta << ' ' << k;
        expected.push_back(power);
        ASSERT_EQ(Levels(power + 1, r, eta), expected) << r << ' ' << eta << ' ' << k;
        power *= eta;
      }
    }
  }
}

TEST(Brackets, HyperbandHasOneForEachLevelAndOneWithoutARung) {
  EXPECT_EQ(HyperbandBrackets({100, 10, 3}), 4);
  EXPECT_EQ(HyperbandBrackets({243, 1, 3}), 6);
  EXPECT_EQ(HyperbandBrackets({100, 100, 3}), 1);
}

TEST(Brackets, WeightsAreHyperbands) {
  EXPECT_THAT(BracketWeights(1, 3), ElementsAre(1.0));
  // S = 4, η = 3: 4/4, 4/3/3, 4/2/9, 4/1/27 = 27/27, 12/27, 6/27, 4/27; together 49/27.
  const std::vector<double> weights = BracketWeights(4, 3);
  ASSERT_EQ(weights.size(), 4U);
  EXPECT_NEAR(weights[0], 27.0 / 49, 1e-15);
  EXPECT_NEAR(weights[1], 12.0 / 49, 1e-15);
  EXPECT_NEAR(weights[2], 6.0 / 49, 1e-15);
  EXPECT_NEAR(weights[3], 4.0 / 49, 1e-15);
}

}  // namespace
}  // namespace rung
