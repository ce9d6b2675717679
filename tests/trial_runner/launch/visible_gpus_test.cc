#include "trial_runner/launch/visible_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VisibleGpusTest : public ::testing::Test {
 protected:
  /// Indices of what the list leaves.
  std::vector<int32_t> Left(std::string_view list) {
    note_.clear();
    std::vector<int32_t> indices;
    for (const Gpu& gpu : VisibleGpus(gpus_, list, note_)) indices.push_back(gpu.index);
    return indices;
  }

  const std::vector<Gpu> gpus_{{.uuid = "GPU-aa11", .index = 0},
                               {.uuid = "GPU-aa22", .index = 1},
                               {.uuid = "GPU-bb33", .index = 2},
                               {.uuid = "GPU-cc44", .index = 4}};
  std::string note_;
};

TEST_F(VisibleGpusTest, TakesIndicesAndUuidsAndUniqueBeginningsInTheirOrder) {
  EXPECT_THAT(Left("2,0"), ElementsAre(2, 0));
  EXPECT_THAT(Left(" 4 , 1"), ElementsAre(4, 1));
  EXPECT_THAT(Left("GPU-aa22,GPU-b,0"), ElementsAre(1, 2, 0));
  EXPECT_EQ(note_, "");
}

TEST_F(VisibleGpusTest, EmptyOrMinusOneLeavesNone) {
  for (const char* list : {"", "  ", "-1", "-1,0"}) EXPECT_THAT(Left(list), IsEmpty()) << list;
  EXPECT_EQ(note_, "");
  EXPECT_THAT(Left("1,-1,2"), ElementsAre(1));
}

TEST_F(VisibleGpusTest, EndsBeforeTheFirstEntryThatDoesNotNameOneGpu) {
  for (const char* list : {"1,3,0", "1,GPU-aa,0", "1,GPU-dd,0", "1,bb33,0", "1,,0", "1,0x2,0",
                           "1,MIG-1,0", "1,NoDevFiles"}) {
    EXPECT_THAT(Left(list), ElementsAre(1)) << list;
    EXPECT_THAT(note_, HasSubstr("the list ends there")) << list;
  }
}

TEST_F(VisibleGpusTest, AGpuNamedTwiceLeavesNone) {
  EXPECT_THAT(Left("1,2,1"), IsEmpty());
  EXPECT_THAT(note_, HasSubstr("names a GPU again"));
  EXPECT_THAT(Left("1,GPU-aa22"), IsEmpty());
}

}  // namespace
}  // namespace rung
