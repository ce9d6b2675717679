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
  EXPECT_EQ(time.At(At(40'010)), At(10));
  EXPECT_EQ(time.last_gap(), milliseconds(40'000));
  EXPECT_EQ(time.At(At(40'110)), At(110));
  EXPECT_EQ(time.last_gap(), milliseconds(0));
  EXPECT_EQ(time.At(At(41'111)), At(110)) << "1001 ms are a gap again";
}

}  // namespace
}  // namespace rung
