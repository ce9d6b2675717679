#include "scheduler/fault_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rung {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

MonoTime At(int64_t s) { return MonoTime(seconds(s)); }

TEST(FaultLog, AFaultEachSecondIsLoggedAtGrowingIntervals) {
  FaultLog log;
  std::vector<int64_t> logged;
  std::vector<int64_t> quiet;
  for (int64_t s = 0; s <= 2'000; ++s) {
    if (const auto kept = log.Note(At(s))) {
      logged.push_back(s);
      quiet.push_back(*kept);
    }
  }
  // Intervals 2, 4, 8, … 512, then 600: 0 + 2 + 4 = 6, … 2 (2^9 − 1) = 1022, 1022 + 600 = 1622.
  EXPECT_THAT(logged, ElementsAre(0, 2, 6, 14, 30, 62, 126, 254, 510, 1022, 1622));
  EXPECT_THAT(quiet, ElementsAre(0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 599));
}

TEST(FaultLog, IsOverOnceWhenItHasNotHappenedForAWhile) {
  FaultLog log;
  EXPECT_FALSE(log.TakeOver(At(100)));  // there was none
  log.Note(At(100));
  log.Note(At(101));
  EXPECT_FALSE(log.TakeOver(At(105)));
  EXPECT_TRUE(log.TakeOver(At(106)));
  EXPECT_FALSE(log.TakeOver(At(107)));
}

TEST(FaultLog, AfterAPauseTheFirstIsLoggedAgain) {
  FaultLog log;
  for (int64_t s = 0; s < 100; ++s) log.Note(At(s));
  EXPECT_EQ(log.Note(At(99)), std::nullopt);
  EXPECT_EQ(log.Note(At(104)), 0);
}

}  // namespace
}  // namespace rung
