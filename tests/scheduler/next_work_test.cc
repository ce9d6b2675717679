#include "scheduler/next_work.h"

#include <gtest/gtest.h>

#include <vector>

namespace rung {
namespace {

WorkDemand Demand(int64_t id, std::vector<int32_t> queued, int32_t gpus = 1) {
  WorkDemand demand;
  demand.experiment = {id};
  demand.gang.per_process = {.milli_cpus = 0, .memory_bytes = 0, .gpus = gpus};
  for (const int32_t number : queued) demand.queued.push_back({{number}, std::nullopt});
  return demand;
}

WorkerOffer Worker(const std::string& name, int32_t gpus) {
  const Resources all{.milli_cpus = 0, .memory_bytes = 0, .gpus = gpus};
  return {name, all, all};
}

TEST(NextWork, PrefersPriorityThenFewerSlotsThenTheLowerId) {
  std::vector<WorkDemand> demands{Demand(1, {5}), Demand(2, {6}), Demand(3, {7})};
  const std::vector<WorkerOffer> offer{Worker("w", 1)};
  EXPECT_EQ(NextWork(demands, offer)->experiment.value, 1);
  demands[0].slots_in_use = 2;
  demands[1].slots_in_use = 1;
  demands[2].slots_in_use = 1;
  EXPECT_EQ(NextWork(demands, offer)->experiment.value, 2);
  demands[2].priority = 1;
  EXPECT_EQ(NextWork(demands, offer)->experiment.value, 3);
}

TEST(NextWork, TakesTheLowestNumberFirst) {
  const std::vector<WorkDemand> demands{Demand(1, {3, 9})};
  EXPECT_EQ(NextWork(demands, std::vector{Worker("w", 1)})->trial.value, 3);
}

TEST(NextWork, PassesOverWhatDoesNotFit) {
  std::vector<WorkDemand> demands{Demand(1, {0}, 4), Demand(2, {0})};
  demands[0].priority = 10;
  EXPECT_EQ(NextWork(demands, std::vector{Worker("w", 2)})->experiment.value, 2);
}

TEST(NextWork, KeepsATrialOnTheWorkerOfItsCheckpoint) {
  std::vector<WorkDemand> demands{Demand(1, {0, 1})};
  demands[0].queued[0].only_on = std::string("b");
  const std::vector<WorkerOffer> only_a{Worker("a", 1)};
  EXPECT_EQ(NextWork(demands, only_a)->trial.value, 1);
  const std::vector<WorkerOffer> both{Worker("a", 1), Worker("b", 1)};
  EXPECT_EQ(NextWork(demands, both)->trial.value, 0);
  EXPECT_EQ(NextWork(demands, both)->worker, 1u);
}

TEST(NextWork, PassesOverWorkersThatRefusedTheExperiment) {
  std::vector<WorkDemand> demands{Demand(1, {0})};
  demands[0].passed_over = {{"a", "there is no folder '/x' here"}};
  EXPECT_FALSE(NextWork(demands, std::vector{Worker("a", 1)}).has_value());
  EXPECT_EQ(NextWork(demands, std::vector{Worker("a", 1), Worker("b", 1)})->worker, 1u);
  EXPECT_EQ(WhyWaiting(demands[0], demands[0].queued[0], std::vector{Worker("a", 1)}),
            "waiting: no other worker is connected than those that refused it: a: there is no "
            "folder '/x' here");
}

TEST(WhyWaiting, GivesEachReasonOfARefusalOnce) {
  WorkDemand demand = Demand(1, {0});
  demand.passed_over = {{"a", "no x"}, {"b", "no y"}, {"c", "no x"}};
  EXPECT_EQ(WhyWaiting(demand, demand.queued[0], std::vector{Worker("a", 1)}),
            "waiting: no other worker is connected than those that refused it: a, c: no x; b: no "
            "y");
  demand.passed_over = {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}};
  EXPECT_EQ(WhyWaiting(demand, demand.queued[0], std::vector{Worker("a", 1)}),
            "waiting: no other worker is connected than those that refused it: a: 1; b: 2; c: 3; "
            "2 more reasons");
}

TEST(NextWork, ObeysMaxConcurrent) {
  std::vector<WorkDemand> demands{Demand(1, {0})};
  demands[0].at_max_concurrent = true;
  EXPECT_FALSE(NextWork(demands, std::vector{Worker("w", 1)}).has_value());
}

TEST(WhyWaiting, NamesTheWorkerThatHasTheCheckpoint) {
  const WorkDemand demand = Demand(1, {0});
  const QueuedTrial trial{{0}, std::string("b")};
  EXPECT_EQ(WhyWaiting(demand, trial, std::vector{Worker("a", 1)}),
            "waiting: its checkpoint is on worker b, which is not connected at the moment");
  EXPECT_EQ(WhyWaiting(demand, trial, std::vector{Worker("b", 0)}),
            "waiting: its checkpoint is on worker b, which is busy");
}

}  // namespace
}  // namespace rung
