#include "clients/cli/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace rung::cli {
namespace {

TEST(InterruptNoticeDeathTest, SaysThatTheExperimentGoesOnAndEndsByTheSignal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const InterruptNotice notice("experiment 12 goes on\n");
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "experiment 12 goes on");
}

}  // namespace
}  // namespace rung::cli
