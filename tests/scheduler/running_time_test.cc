#include "scheduler/running_time.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

using std::chrono::milliseconds;

MonoTime At(int64_t ms) { return MonoTime(milliseconds(ms)); }

TEST(RunningTime, RunsWithTheClockWhileTheLoopRuns) {
  RunningTime time(milliseconds(1'000));
  EXPECT_EQ(time.At(At(50'000)), At(50'000)) << "the first reading is no gap";
  EXPECT_EQ(time.At(At(50'200)), At(50'200));
  EXPECT_EQ(time.At(At(51'200)), At(51'200)) << "1000 ms is still running";
  EXPECT_EQ(time.last_gap(), milliseconds(0));
}

TEST(RunningTime, StandsStillWhileTheProcessIsStopped) {
  RunningTime time(milliseconds(1'000));
  EXPECT_EQ(time.At(At(10)), At(10));
  EXPECT_EQ(time.At(At(40'010)), At(1'010));
  EXPECT_EQ(time.last_gap(), milliseconds(39'000));
  EXPECT_EQ(time.At(At(40'110)), At(1'110));
  EXPECT_EQ(time.last_gap(), milliseconds(0));
  EXPECT_EQ(time.At(At(41'111)), At(2'110)) << "of 1001 ms one is too many";
}

TEST(RunningTime, GoesOnWhereEveryTurnIsSlow) {
  RunningTime time(milliseconds(1'000));
  EXPECT_EQ(time.At(At(0)), At(0));
  EXPECT_EQ(time.At(At(1'500)), At(1'000));
  EXPECT_EQ(time.At(At(3'000)), At(2'000));
  EXPECT_EQ(time.At(At(4'500)), At(3'000));
}

}  // namespace
}  // namespace rung
