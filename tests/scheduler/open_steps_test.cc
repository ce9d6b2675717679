#include "scheduler/open_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::map<int32_t, MetricValue> Ranks(std::vector<std::pair<double, int64_t>> values) {
  std::map<int32_t, MetricValue> by_rank;
  for (const auto& [value, count] : values) {
    by_rank[static_cast<int32_t>(by_rank.size())] = {"loss", value, count};
  }
  return by_rank;
}

void Add(OpenSteps& open, int32_t rank, Steps step, double value, uint64_t report_id,
         const std::string& name = "loss") {
  open.Add(rank, step, {{name, value, 1}}, {name}, report_id);
}

TEST(ReduceRanks, WeighsTheMeanByCount) {
  // (3 * 0.5 + 1 * 0.9) / 4 = 0.6
  EXPECT_DOUBLE_EQ(ReduceRanks(Reduce::kMean, Ranks({{0.5, 3}, {0.9, 1}})), 0.6);
}

TEST(ReduceRanks, TakesMinMaxAndRank0) {
  const auto values = Ranks({{0.5, 1}, {0.9, 1}, {0.1, 1}});
  EXPECT_EQ(ReduceRanks(Reduce::kMin, values), 0.1);
  EXPECT_EQ(ReduceRanks(Reduce::kMax, values), 0.9);
  EXPECT_EQ(ReduceRanks(Reduce::kRank0, values), 0.5);
}

TEST(ReduceRanks, OneNonFiniteValueMakesNan) {
  for (const Reduce reduce : {Reduce::kMean, Reduce::kMin, Reduce::kMax}) {
    EXPECT_TRUE(std::isnan(ReduceRanks(reduce, Ranks({{0.5, 1}, {kInfinity, 1}}))));
  }
  EXPECT_EQ(ReduceRanks(Reduce::kRank0, Ranks({{kInfinity, 1}, {0.5, 1}})), kInfinity);
}

TEST(OpenSteps, AStepIsCompleteWhenEveryRankHasReportedIt) {
  OpenSteps open(Reduce::kMean, 2);
  Add(open, 0, 1, 0.4, 10);
  EXPECT_FALSE(open.Take().has_value());
  Add(open, 1, 1, 0.6, 11);
  const auto batch = open.Take();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->values.at(0).value, 0.5);
  EXPECT_EQ(batch->values.at(0).ranks, 2);
  EXPECT_THAT(batch->report_ids, ElementsAre(10, 11));
  EXPECT_EQ(open.open_steps(), 0u);
}

TEST(OpenSteps, AStepIsCompleteOverThoseThatHaveWhenOneOfThemMovesOn) {
  OpenSteps open(Reduce::kMax, 3);
  Add(open, 0, 1, 0.4, 10);
  Add(open, 1, 1, 0.6, 11);
  Add(open, 2, 2, 0.1, 12);  // rank 2 never reported step 1, so its moving on completes nothing
  EXPECT_FALSE(open.Take().has_value());
  Add(open, 0, 2, 0.2, 13);
  const auto batch = open.Take();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->step, 1);
  EXPECT_EQ(batch->values.at(0).value, 0.6);
  EXPECT_EQ(batch->values.at(0).ranks, 2);
  EXPECT_FALSE(open.Take().has_value());  // step 2 waits for rank 1
}

TEST(OpenSteps, RanksThatAreGoneAreNotWaitedFor) {
  OpenSteps open(Reduce::kMean, 2);
  Add(open, 0, 1, 0.4, 10);
  open.RankExited(1);
  const auto batch = open.Take();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->values.at(0).ranks, 1);
}

TEST(OpenSteps, ALaterCompleteStepWaitsForAnEarlierOpenOne) {
  OpenSteps open(Reduce::kMean, 3);
  Add(open, 0, 5, 0.4, 10, "loss");
  Add(open, 1, 6, 0.6, 11, "loss");
  open.RankExited(1);  // completes (6, loss) over rank 1 alone
  EXPECT_FALSE(open.Take().has_value());
  open.RankExited(0);
  EXPECT_EQ(open.Take()->step, 5);
  EXPECT_EQ(open.Take()->step, 6);
}

TEST(OpenSteps, WithRank0OthersOnlyWaitForTheAnswer) {
  OpenSteps open(Reduce::kRank0, 2);
  Add(open, 1, 1, 9.0, 11);
  EXPECT_FALSE(open.Take().has_value());
  Add(open, 0, 1, 0.4, 10);
  const auto batch = open.Take();
  ASSERT_TRUE(batch.has_value());
  ASSERT_EQ(batch->values.size(), 1u);
  EXPECT_EQ(batch->values[0].value, 0.4);
  EXPECT_EQ(batch->values[0].ranks, 1);
  EXPECT_THAT(batch->report_ids, ElementsAre(11, 10));
}

TEST(OpenSteps, WithRank0ARankAheadIsReleasedByAStop) {
  OpenSteps open(Reduce::kRank0, 2);
  Add(open, 1, 7, 9.0, 11);
  EXPECT_FALSE(open.Take().has_value());
  open.StopWaiting();
  const auto batch = open.Take();
  ASSERT_TRUE(batch.has_value());
  EXPECT_THAT(batch->values, IsEmpty());
  EXPECT_THAT(batch->report_ids, ElementsAre(11));
}

TEST(OpenSteps, AReportWaitsForAllOfItsNames) {
  OpenSteps open(Reduce::kMean, 2);
  open.Add(0, 1, {{"a", 1, 1}, {"b", 2, 1}}, {"a", "b"}, 10);
  Add(open, 1, 1, 3, 11, "a");
  const auto first = open.Take();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->values.at(0).name, "a");
  EXPECT_THAT(first->report_ids, ElementsAre(11));
  Add(open, 1, 1, 4, 12, "b");
  const auto second = open.Take();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->values.at(0).value, 3);
  EXPECT_THAT(second->report_ids, ElementsAre(10, 12));
}

TEST(OpenSteps, CloseOldestCompletesTheLowestStepWithWhatItHas) {
  OpenSteps open(Reduce::kMean, 3);
  Add(open, 0, 1, 0.4, 10);
  Add(open, 1, 2, 0.5, 11);
  open.CloseOldest();
  EXPECT_EQ(open.Take()->step, 1);
  EXPECT_EQ(open.open_steps(), 1u);
}

TEST(OpenSteps, ARepeatedReportIsAnsweredOnce) {
  OpenSteps open(Reduce::kMean, 2);
  Add(open, 0, 1, 0.4, 10);
  open.Add(0, 1, {}, {"loss"}, 10);
  Add(open, 1, 1, 0.6, 11);
  EXPECT_THAT(open.Take()->report_ids, ElementsAre(10, 11));
}

}  // namespace
}  // namespace rung
