#include "trial_runner/launch/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Inventory, GpuThatDoesNotAnswerIsLeftOut) {
  setenv("RUNG_NVML_PATH", FAKE_NVML_PATH, 1);
  const Inventory inventory = TakeInventory({});
  ASSERT_THAT(inventory.gpus, SizeIs(2));  // three, of which index 1 is lost
  EXPECT_EQ(inventory.gpus[0].uuid, "GPU-fake-1");
  EXPECT_EQ(inventory.gpus[0].name, "Fake 9000");
  EXPECT_EQ(inventory.gpus[0].memory_bytes, 80'000'000'000);
  EXPECT_EQ(inventory.gpus[1].uuid, "GPU-fake-3");
  EXPECT_EQ(inventory.total.gpus, 2);
  ASSERT_THAT(inventory.notes, SizeIs(1));
  EXPECT_THAT(inventory.notes[0], HasSubstr("GPU 1"));
}

TEST(Inventory, WithoutNvmlThereAreNoGpusAndTheNoteSaysWhy) {
  setenv("RUNG_NVML_PATH", "/does/not/exist.so", 1);
  const Inventory inventory = TakeInventory({});
  EXPECT_THAT(inventory.gpus, SizeIs(0));
  EXPECT_EQ(inventory.total.gpus, 0);
  ASSERT_THAT(inventory.notes, SizeIs(1));
  EXPECT_THAT(inventory.notes[0], HasSubstr("/does/not/exist.so"));
}

TEST(Inventory, FindsCpusAndMemory) {
  setenv("RUNG_NVML_PATH", "/does/not/exist.so", 1);
  const Inventory inventory = TakeInventory({});
  EXPECT_GE(inventory.total.milli_cpus, 1000);
  EXPECT_EQ(inventory.total.milli_cpus % 1000, 0);
  EXPECT_GT(inventory.total.memory_bytes, 100 << 20);
}

TEST(Inventory, OverridesTakeTheFirstGpusAndNameOthersByIndex) {
  setenv("RUNG_NVML_PATH", FAKE_NVML_PATH, 1);
  EXPECT_EQ(TakeInventory({.milli_cpus = 500, .memory_bytes = 7, .gpus = 1}).total,
            (Resources{.milli_cpus = 500, .memory_bytes = 7, .gpus = 1}));
  const Inventory more = TakeInventory({.gpus = 3});
  ASSERT_THAT(more.gpus, SizeIs(3));
  EXPECT_EQ(more.gpus[2].uuid, "2");
}

}  // namespace
}  // namespace rung
