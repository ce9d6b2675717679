#include "trial_runner/launch/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace rung {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class InventoryTest : public ::testing::Test {
 protected:
  InventoryTest() { unsetenv("CUDA_VISIBLE_DEVICES"); }
  ~InventoryTest() override { unsetenv("CUDA_VISIBLE_DEVICES"); }

  static std::vector<std::string> UuidsOf(const Inventory& inventory) {
    std::vector<std::string> uuids;
    for (const Gpu& gpu : inventory.gpus) uuids.push_back(gpu.uuid);
    return uuids;
  }
};

TEST_F(InventoryTest, GpuThatDoesNotAnswerIsLeftOut) {
  setenv("RUNG_NVML_PATH", FAKE_NVML_PATH, 1);
  const Inventory inventory = TakeInventory({});
  ASSERT_THAT(inventory.gpus, SizeIs(2));  // three, of which index 1 is lost
  EXPECT_EQ(inventory.gpus[0].uuid, "GPU-fake-1");
  EXPECT_EQ(inventory.gpus[0].name, "Fake 9000");
  EXPECT_EQ(inventory.gpus[0].index, 0);
  EXPECT_EQ(inventory.gpus[1].uuid, "GPU-fake-3");
  EXPECT_EQ(inventory.gpus[1].index, 2);
  EXPECT_EQ(inventory.total.gpus, 2);
  ASSERT_THAT(inventory.notes, SizeIs(1));
  EXPECT_THAT(inventory.notes[0], HasSubstr("GPU 1"));
}

TEST_F(InventoryTest, WithoutNvmlThereAreNoGpusAndTheNoteSaysWhy) {
  setenv("RUNG_NVML_PATH", "/does/not/exist.so", 1);
  const Inventory inventory = TakeInventory({});
  EXPECT_THAT(inventory.gpus, SizeIs(0));
  EXPECT_EQ(inventory.total.gpus, 0);
  ASSERT_THAT(inventory.notes, SizeIs(1));
  EXPECT_THAT(inventory.notes[0], HasSubstr("/does/not/exist.so"));
}

TEST_F(InventoryTest, FindsCpusAndMemory) {
  setenv("RUNG_NVML_PATH", "/does/not/exist.so", 1);
  const Inventory inventory = TakeInventory({});
  EXPECT_GE(inventory.total.milli_cpus, 1000);
  EXPECT_EQ(inventory.total.milli_cpus % 1000, 0);
  EXPECT_GT(inventory.total.memory_bytes, 100 << 20);
}

TEST_F(InventoryTest, OverridesTakeTheFirstGpusAndNameOthersByIndex) {
  setenv("RUNG_NVML_PATH", FAKE_NVML_PATH, 1);
  EXPECT_EQ(TakeInventory({.milli_cpus = 500, .memory_bytes = 7, .gpus = 1}).total,
            (Resources{.milli_cpus = 500, .memory_bytes = 7, .gpus = 1}));
  const Inventory more = TakeInventory({.gpus = 3});
  ASSERT_THAT(more.gpus, SizeIs(3));
  EXPECT_EQ(more.gpus[2].uuid, "1");  // 0 and 2 are there: they are not given twice
}

TEST_F(InventoryTest, OffersOnlyTheGpusThatItsOwnEnvironmentLeaves) {
  setenv("RUNG_NVML_PATH", FAKE_NVML_PATH, 1);
  setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
  EXPECT_THAT(UuidsOf(TakeInventory({})), ElementsAre("GPU-fake-3", "GPU-fake-1"));
  EXPECT_THAT(UuidsOf(TakeInventory({.gpus = 1})), ElementsAre("GPU-fake-3"));
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_THAT(UuidsOf(TakeInventory({})), IsEmpty());
  EXPECT_THAT(UuidsOf(TakeInventory({.gpus = 2})), IsEmpty());
  setenv("CUDA_VISIBLE_DEVICES", "0,7", 1);
  const Inventory ends = TakeInventory({});
  EXPECT_THAT(UuidsOf(ends), ElementsAre("GPU-fake-1"));
  EXPECT_THAT(ends.notes, Contains(HasSubstr("'7' does not name one GPU")));
}

TEST_F(InventoryTest, GpusThatNvmlDoesNotSeeAreLimitedToo) {
  setenv("RUNG_NVML_PATH", "/does/not/exist.so", 1);
  setenv("CUDA_VISIBLE_DEVICES", "2,3", 1);
  EXPECT_THAT(UuidsOf(TakeInventory({})), IsEmpty());
  EXPECT_THAT(UuidsOf(TakeInventory({.gpus = 4})), ElementsAre("2", "3"));
  EXPECT_THAT(UuidsOf(TakeInventory({.gpus = 1})), ElementsAre("2"));
}

}  // namespace
}  // namespace rung
