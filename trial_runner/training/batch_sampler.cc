#include "trial_runner/training/batch_sampler.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "trial_runner/training/seed.h"

namespace rung::training {
namespace {

/// Uniform integers below a bound from one SplitMix64 stream.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}

  /// In [0, bound). Draws of the incomplete last interval are repeated, so each value is equally
  /// likely.
  std::uint64_t Below(std::uint64_t bound) {
    const std::uint64_t rejected = (0 - bound) % bound;  // 2^64 mod bound
    std::uint64_t draw = 0;
    do {
      draw = DeriveSeed(seed_, next_++);
    } while (draw < rejected);
    return draw % bound;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

void Require(bool holds, const char* rule, std::int64_t found) {
  if (!holds) {
    throw std::invalid_argument(std::string("batch sampler: ") + rule + ", found " +
                                std::to_string(found));
  }
}

}  // namespace

BatchSampler::BatchSampler(Options options) : options_(options) {
  Require(options_.sample_count > 0, "sample_count must be > 0", options_.sample_count);
  Require(options_.global_batch > 0, "global_batch must be > 0", options_.global_batch);
  Require(options_.world_size > 0, "world_size must be > 0", options_.world_size);
  Require(options_.rank >= 0 && options_.rank < options_.world_size,
          "rank must be in [0, world_size)", options_.rank);
}

void BatchSampler::Seek(SamplerPosition position) {
  Require(position.epoch >= 0, "epoch must be >= 0", position.epoch);
  Require(position.index >= 0 && position.index < options_.sample_count,
          "index must be in [0, sample_count)", position.index);
  position_ = position;
}

void BatchSampler::OrderEpoch() {
  if (ordered_epoch_ == position_.epoch) return;
  ordered_epoch_ = position_.epoch;
  order_.resize(static_cast<std::size_t>(options_.sample_count));
  std::iota(order_.begin(), order_.end(), std::int64_t{0});
  if (!options_.shuffle) return;
  Draws draws(DeriveSeed(options_.seed, static_cast<std::uint64_t>(position_.epoch)));
  for (std::size_t last = order_.size() - 1; last > 0; --last) {  // Fisher and Yates
    std::swap(order_[last], order_[draws.Below(last + 1)]);
  }
}

Batch BatchSampler::Next() {
  Batch batch;
  batch.epoch = position_.epoch;
  batch.global_count = options_.global_batch;
  if (options_.epoch_end == EpochEnd::kShortBatch) {
    batch.global_count = std::min(batch.global_count, options_.sample_count - position_.index);
  }
  const std::int64_t begin = batch.global_count * options_.rank / options_.world_size;
  const std::int64_t end = batch.global_count * (options_.rank + 1) / options_.world_size;
  for (std::int64_t i = 0; i < batch.global_count; ++i) {
    OrderEpoch();
    if (i >= begin && i < end) {
      batch.indices.push_back(order_[static_cast<std::size_t>(position_.index)]);
    }
    if (++position_.index == options_.sample_count) position_ = {position_.epoch + 1, 0};
  }
  return batch;
}

}  // namespace rung::training
