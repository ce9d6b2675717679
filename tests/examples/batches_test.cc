#include "examples/bert_finetune/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bert {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// `count` rows of lengths 2, 3, …, 21, 2, 3, …
Rows RowsOfManyLengths(size_t count) {
  Rows rows;
  for (size_t i = 0; i < count; ++i) {
    rows.labels.push_back(0);
    rows.tokens.resize(rows.tokens.size() + 2 + i % 20);
    rows.begins.push_back(rows.tokens.size());
  }
  return rows;
}

std::vector<size_t> Every(size_t step, size_t count) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < count; i += step) indices.push_back(i);
  return indices;
}

TEST(TrainingBatches, EpochHoldsEveryTrainingRowOnce) {
  const Rows rows = RowsOfManyLengths(512);
  const std::vector<size_t> training = Every(2, 512);  // 256 = 2 runs of 16 batches of 8
  TrainingBatches batches(rows, training, 8, 1);
  std::vector<size_t> seen;
  for (int i = 0; i < 32; ++i) {
    const std::vector<size_t> batch = batches.Next();
    EXPECT_THAT(batch, SizeIs(8));
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  std::ranges::sort(seen);
  EXPECT_EQ(seen, training);
}

TEST(TrainingBatches, SeedDecidesTheOrder) {
  const Rows rows = RowsOfManyLengths(256);
  const std::vector<size_t> training = Every(1, 256);
  TrainingBatches one(rows, training, 8, 1);
  TrainingBatches same(rows, training, 8, 1);
  TrainingBatches other(rows, training, 8, 2);
  bool differs = false;
  for (int i = 0; i < 64; ++i) {
    const std::vector<size_t> batch = one.Next();
    EXPECT_EQ(batch, same.Next());
    differs |= batch != other.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(TrainingBatches, RowsOfABatchHaveSimilarLengths) {
  const Rows rows = RowsOfManyLengths(256);
  const std::vector<size_t> training = Every(1, 256);
  TrainingBatches batches(rows, training, 8, 1);
  size_t padded = 0;
  size_t tokens = 0;
  for (int i = 0; i < 32; ++i) {
    size_t longest = 0;
    for (const size_t row : batches.Next()) {
      longest = std::max(longest, rows.length(row));
      tokens += rows.length(row);
    }
    padded += 8 * longest;
  }
  // 16 batches cut from 128 sorted rows of lengths 2 … 21: a batch spans at most 3 lengths, so
  // less than 2 of about 11.5 tokens a row are padding; unsorted, the longest of 8 would be 19.
  EXPECT_LT(static_cast<double>(padded), 1.18 * static_cast<double>(tokens));
}

TEST(Share, RanksTakeTurnsAndTogetherHaveAll) {
  const std::vector<size_t> batch = {10, 11, 12, 13, 14};
  EXPECT_THAT(Share(batch, 0, 2), ElementsAre(10, 12, 14));
  EXPECT_THAT(Share(batch, 1, 2), ElementsAre(11, 13));
  EXPECT_THAT(Share(batch, 0, 1), ElementsAre(10, 11, 12, 13, 14));
}

TEST(LengthSortedBatches, CoverTheRowsFromShortToLong) {
  const Rows rows = RowsOfManyLengths(5);  // lengths 2 3 4 5 6
  const std::vector<size_t> indices = {4, 0, 2};
  EXPECT_THAT(LengthSortedBatches(rows, indices, 2),
              ElementsAre(ElementsAre(0, 2), ElementsAre(4)));
}

}  // namespace
}  // namespace bert
