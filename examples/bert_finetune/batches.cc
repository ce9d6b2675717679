#include "examples/bert_finetune/batches.h"

#include <algorithm>
#include <utility>

#include "trial_runner/training/seed.h"

namespace bert {
namespace {

void SortByLength(const Rows& rows, std::vector<size_t>& indices) {
  std::stable_sort(indices.begin(), indices.end(),
                   [&](size_t a, size_t b) { return rows.length(a) < rows.length(b); });
}

std::vector<std::vector<size_t>> Cut(std::span<const size_t> indices, size_t size) {
  std::vector<std::vector<size_t>> batches;
  for (size_t at = 0; at < indices.size(); at += size) {
    const auto batch = indices.subspan(at, std::min(size, indices.size() - at));
    batches.emplace_back(batch.begin(), batch.end());
  }
  return batches;
}

}  // namespace

TrainingBatches::TrainingBatches(const Rows& rows, std::span<const size_t> training,
                                 int64_t global_batch, uint64_t seed)
    : rows_(rows),
      training_(training),
      global_batch_(static_cast<size_t>(global_batch)),
      seed_(seed),
      sampler_({.sample_count = static_cast<int64_t>(training.size()),
                .global_batch = global_batch * kRunBatches,
                .seed = seed,
                .epoch_end = rung::training::BatchSampler::EpochEnd::kCarryOver}) {}

std::vector<size_t> TrainingBatches::Next() {
  if (batches_.empty()) DrawRun();
  std::vector<size_t> batch = std::move(batches_.front());
  batches_.pop_front();
  return batch;
}

void TrainingBatches::DrawRun() {
  std::vector<size_t> run;
  for (const int64_t sample : sampler_.Next().indices) {
    run.push_back(training_[static_cast<size_t>(sample)]);
  }
  SortByLength(rows_, run);
  std::vector<std::vector<size_t>> batches = Cut(run, global_batch_);
  const uint64_t run_seed = rung::training::DeriveSeed(seed_, runs_++);
  for (size_t left = batches.size(); left > 1; --left) {  // Fisher-Yates
    const size_t other = rung::training::DeriveSeed(run_seed, left) % left;
    std::swap(batches[left - 1], batches[other]);
  }
  batches_.insert(batches_.end(), std::make_move_iterator(batches.begin()),
                  std::make_move_iterator(batches.end()));
}

std::vector<size_t> Share(std::span<const size_t> batch, int rank, int world_size) {
  std::vector<size_t> share;
  for (auto i = static_cast<size_t>(rank); i < batch.size(); i += static_cast<size_t>(world_size)) {
    share.push_back(batch[i]);
  }
  return share;
}

std::vector<std::vector<size_t>> LengthSortedBatches(const Rows& rows,
                                                     std::span<const size_t> indices, size_t size) {
  std::vector<size_t> sorted(indices.begin(), indices.end());
  SortByLength(rows, sorted);
  return Cut(sorted, size);
}

}  // namespace bert
