#include "trial_runner/training/batch_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace rung::training {
namespace {

using ::testing::ElementsAre;
using EpochEnd = BatchSampler::EpochEnd;

BatchSampler::Options Small(int rank, int world_size) {
  return {.sample_count = 10, .global_batch = 4, .seed = 7, .rank = rank, .world_size = world_size};
}

std::vector<std::int64_t> Take(BatchSampler& sampler, int batches) {
  std::vector<std::int64_t> indices;
  for (int i = 0; i < batches; ++i) {
    const Batch batch = sampler.Next();
    indices.insert(indices.end(), batch.indices.begin(), batch.indices.end());
  }
  return indices;
}

TEST(BatchSampler, EpochHoldsEverySampleOnce) {
  BatchSampler sampler(Small(0, 1));
  std::vector<std::int64_t> epoch = Take(sampler, 3);  // 4 + 4 + 2
  std::sort(epoch.begin(), epoch.end());
  EXPECT_THAT(epoch, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(sampler.position(), (SamplerPosition{1, 0}));
}

// A change would break resuming older checkpoints. The numbers are those of a second implementation
// in Python: Fisher and Yates over z = SplitMix64(SplitMix64(7, epoch), i), index z mod bound.
TEST(BatchSampler, OrderIsPinned) {
  BatchSampler sampler(Small(0, 1));
  const std::vector<std::int64_t> first = Take(sampler, 3);
  const std::vector<std::int64_t> second = Take(sampler, 3);
  EXPECT_THAT(first, ElementsAre(7, 6, 9, 2, 8, 4, 0, 3, 5, 1));
  EXPECT_THAT(second, ElementsAre(3, 0, 4, 2, 7, 5, 8, 1, 9, 6));
}

TEST(BatchSampler, SharesOfAnyWorldMakeTheSameGlobalBatch) {
  BatchSampler single(Small(0, 1));
  std::vector<BatchSampler> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.emplace_back(Small(rank, 3));
  for (int i = 0; i < 7; ++i) {
    const Batch whole = single.Next();
    std::vector<std::int64_t> joined;
    for (BatchSampler& rank : ranks) {
      const Batch share = rank.Next();
      EXPECT_EQ(share.global_count, whole.global_count);
      joined.insert(joined.end(), share.indices.begin(), share.indices.end());
    }
    EXPECT_EQ(joined, whole.indices);
  }
}

TEST(BatchSampler, ShortBatchLeavesSomeRanksEmpty) {
  // n = 2, w = 3: rank 0 has [0, 2 * 1 / 3) = nothing, rank 1 [0, 1), rank 2 [1, 2).
  BatchSampler sampler(Small(0, 3));
  sampler.Seek({0, 8});
  const Batch batch = sampler.Next();
  EXPECT_EQ(batch.global_count, 2);
  EXPECT_EQ(batch.local_count(), 0);
}

TEST(BatchSampler, CarriedOverBatchesAreAlwaysFull) {
  BatchSampler::Options options = Small(0, 1);
  options.epoch_end = EpochEnd::kCarryOver;
  BatchSampler carrying(options);
  BatchSampler reference(Small(0, 1));
  const std::vector<std::int64_t> both_epochs = Take(reference, 6);
  EXPECT_EQ(Take(carrying, 5), both_epochs);  // 5 * 4 = 2 * 10
  EXPECT_EQ(carrying.position(), (SamplerPosition{2, 0}));
}

TEST(BatchSampler, SeekContinuesWhereTheOtherStopped) {
  BatchSampler first(Small(1, 2));
  Take(first, 4);
  BatchSampler second(Small(1, 2));
  second.Seek(first.position());
  EXPECT_EQ(Take(second, 4), Take(first, 4));
}

TEST(BatchSampler, WithoutShuffleTheOrderIsTheDataSets) {
  BatchSampler::Options options = Small(0, 1);
  options.shuffle = false;
  BatchSampler sampler(options);
  EXPECT_THAT(Take(sampler, 3), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(BatchSampler, ImpossibleNumbersAreRefused) {
  EXPECT_THROW(BatchSampler({.sample_count = 0, .global_batch = 1}), std::invalid_argument);
  EXPECT_THROW(BatchSampler({.sample_count = 1, .global_batch = 0}), std::invalid_argument);
  EXPECT_THROW(BatchSampler(Small(2, 2)), std::invalid_argument);
  BatchSampler sampler(Small(0, 1));
  EXPECT_THROW(sampler.Seek({0, 10}), std::invalid_argument);
  EXPECT_THROW(sampler.Seek({-1, 0}), std::invalid_argument);
}

}  // namespace
}  // namespace rung::training
