#include "scheduler/placement.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace rung {
namespace {

WorkerOffer Worker(const std::string& name, int64_t milli_cpus, int32_t gpus,
                   int32_t gpus_free = -1) {
  WorkerOffer offer{name, {.milli_cpus = milli_cpus, .memory_bytes = 8LL << 30, .gpus = gpus}, {}};
  offer.free = offer.total;
  if (gpus_free >= 0) offer.free.gpus = gpus_free;
  return offer;
}

Gang GangOf(int32_t processes, int64_t milli_cpus, int32_t gpus, int64_t memory_bytes = 0) {
  return {processes, {.milli_cpus = milli_cpus, .memory_bytes = memory_bytes, .gpus = gpus}};
}

TEST(PlaceGang, NeedsOneWorkerForAllProcesses) {
  const std::vector<WorkerOffer> two{Worker("a", 8000, 1), Worker("b", 8000, 1)};
  EXPECT_FALSE(PlaceGang(GangOf(2, 1000, 1), two).has_value());
  const std::vector<WorkerOffer> one{Worker("a", 8000, 1), Worker("b", 8000, 2)};
  EXPECT_EQ(PlaceGang(GangOf(2, 1000, 1), one), 1u);
}

TEST(PlaceGang, LeavesLargeHolesForLargeGangs) {
  const std::vector<WorkerOffer> workers{Worker("a", 8000, 4), Worker("b", 8000, 4, 1),
                                         Worker("c", 4000, 0)};
  EXPECT_EQ(PlaceGang(GangOf(1, 1000, 1), workers), 1u);
  EXPECT_EQ(PlaceGang(GangOf(1, 1000, 0), workers), 2u);  // not on a machine with GPUs
}

TEST(PlaceGang, AcceptsAnExactFitAndRefusesOneMore) {
  const std::vector<WorkerOffer> workers{Worker("a", 4000, 0)};
  EXPECT_TRUE(PlaceGang(GangOf(2, 2000, 0, 4LL << 30), workers).has_value());
  EXPECT_FALSE(PlaceGang(GangOf(2, 2001, 0), workers).has_value());
  EXPECT_FALSE(PlaceGang(GangOf(2, 2000, 0, (4LL << 30) + 1), workers).has_value());
}

TEST(PlaceGang, MemoryBeyondInt64IsMoreThanAnyWorkerHas) {
  // 2^60 bytes each: 16 of them would wrap around to 0.
  const Gang gang = GangOf(16, 10, 0, int64_t{1} << 60);
  EXPECT_EQ(gang.Total().memory_bytes, std::numeric_limits<int64_t>::max());
  const std::vector<WorkerOffer> workers{Worker("a", 4000, 0)};
  EXPECT_FALSE(PlaceGang(gang, workers).has_value());
  EXPECT_EQ(WhyNotPlaced(gang, workers),
            "needs 8.59e+09 GiB of memory for 16 processes; the largest worker, a, has 8 GiB");
}

TEST(WhyNotPlaced, NamesTheLackAndTheLargestWorker) {
  const std::vector<WorkerOffer> workers{Worker("w1", 4000, 0), Worker("w2", 8000, 2)};
  EXPECT_EQ(WhyNotPlaced(GangOf(1, 1000, 4), workers),
            "needs 4 GPUs for 1 process; the largest worker, w2, has 2");
  EXPECT_EQ(WhyNotPlaced(GangOf(3, 3000, 0), workers),
            "needs 9 CPUs for 3 processes; the largest worker, w2, has 8");
  EXPECT_EQ(WhyNotPlaced(GangOf(1, 1000, 0, 16LL << 30), workers),
            "needs 16 GiB of memory for 1 process; the largest worker, w1, has 8 GiB");
}

TEST(WhyNotPlaced, SaysWhenWorkersAreBusyOrNoneHasEverything) {
  const std::vector<WorkerOffer> busy{Worker("w1", 4000, 1, 0)};
  EXPECT_EQ(WhyNotPlaced(GangOf(1, 1000, 1), busy),
            "needs 1 GPU, 1 CPU for 1 process; every worker that has them is busy");
  const std::vector<WorkerOffer> split{Worker("w1", 1000, 2), Worker("w2", 8000, 0)};
  EXPECT_EQ(WhyNotPlaced(GangOf(1, 2000, 1), split),
            "needs 1 GPU, 2 CPUs for 1 process; no worker has all of them");
  EXPECT_EQ(WhyNotPlaced(GangOf(1, 1000, 0), {}), "no worker is connected");
}

TEST(Gang, WeighsGpusElseWholeCores) {
  EXPECT_EQ(GangOf(2, 4000, 1).Slots(), 2);
  EXPECT_EQ(GangOf(2, 1500, 0).Slots(), 3);
  EXPECT_EQ(GangOf(1, 100, 0).Slots(), 1);
}

}  // namespace
}  // namespace rung
