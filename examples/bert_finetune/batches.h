#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "examples/bert_finetune/corpus.h"
#include "trial_runner/training/batch_sampler.h"

namespace bert {

/// The training batches: shuffled, yet of rows of similar length, so that little is padded.
///
/// The shuffled stream is taken in runs of 16 batches; a run is sorted by length, cut into batches,
/// and their order is shuffled again. All batches are full. A function of the seed and of the
/// global batch size alone: any number of processes shares the same batches.
class TrainingBatches {
 public:
  /// `rows` and `training` outlive this object. `global_batch` in [1, training.size()].
  TrainingBatches(const Rows& rows, std::span<const size_t> training, int64_t global_batch,
                  uint64_t seed);

  /// Row indices of the next global batch.
  std::vector<size_t> Next();

 private:
  static constexpr int64_t kRunBatches = 16;

  void DrawRun();

  const Rows& rows_;
  std::span<const size_t> training_;
  size_t global_batch_;
  uint64_t seed_;
  uint64_t runs_ = 0;
  rung::training::BatchSampler sampler_;
  std::deque<std::vector<size_t>> batches_;
};

/// Rank `rank`'s part of a global batch: every world_size-th row, so that lengths are shared
/// evenly.
std::vector<size_t> Share(std::span<const size_t> batch, int rank, int world_size);

/// Batches of at most `size` rows for an evaluation, ordered by length.
std::vector<std::vector<size_t>> LengthSortedBatches(const Rows& rows,
                                                     std::span<const size_t> indices, size_t size);

}  // namespace bert
