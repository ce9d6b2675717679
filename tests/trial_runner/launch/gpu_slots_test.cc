#include "trial_runner/launch/gpu_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

AttemptId Attempt(int32_t trial) {
  return {.trial = {.experiment = {1}, .number = {trial}}, .attempt = 0};
}

TEST(GpuSlots, NoGpuIsHeldTwice) {
  GpuSlots slots({{.uuid = "a"}, {.uuid = "b"}, {.uuid = "c"}});
  EXPECT_THAT(*slots.Take(Attempt(1), 2), ElementsAre("a", "b"));
  EXPECT_FALSE(slots.Take(Attempt(2), 2).has_value());
  EXPECT_THAT(*slots.Take(Attempt(3), 1), ElementsAre("c"));
}

TEST(GpuSlots, ReleasedGpusAreTakenAgain) {
  GpuSlots slots({{.uuid = "a"}, {.uuid = "b"}});
  slots.Take(Attempt(1), 1);
  slots.Take(Attempt(2), 1);
  slots.Release(Attempt(1));
  EXPECT_THAT(*slots.Take(Attempt(3), 1), ElementsAre("a"));
}

TEST(GpuSlots, ZeroGpusAlwaysFit) {
  GpuSlots slots({});
  EXPECT_THAT(*slots.Take(Attempt(1), 0), IsEmpty());
}

}  // namespace
}  // namespace rung
