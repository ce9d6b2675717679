/// Which samples make up each global batch, and which of them are this rank's share.
#pragma once

#include <cstdint>
#include <vector>

namespace rung::training {

/// Where the next batch begins: sample `index` of epoch `epoch`'s order.
struct SamplerPosition {
  std::int64_t epoch = 0;
  std::int64_t index = 0;  ///< in [0, sample_count)
  bool operator==(const SamplerPosition&) const = default;
};

struct Batch {
  std::vector<std::int64_t> indices;  ///< this rank's share, each in [0, sample_count)
  std::int64_t global_count = 0;      ///< samples of all shares together
  std::int64_t epoch = 0;             ///< of the batch's first sample
  std::int64_t local_count() const { return static_cast<std::int64_t>(indices.size()); }
};

/// The order is a new shuffle each epoch, a function of (seed, epoch) alone: the same for any
/// number of ranks, on any machine, and after a resume. No sample is ever padded or repeated within
/// an epoch.
class BatchSampler {
 public:
  enum class EpochEnd {
    kShortBatch,  ///< the last batch of an epoch holds what is left
    kCarryOver,   ///< it is filled from the next epoch, so that all batches are full
  };
  struct Options {
    std::int64_t sample_count = 0;  ///< > 0
    std::int64_t global_batch = 0;  ///< samples an update over all ranks, > 0
    std::uint64_t seed = 0;
    int rank = 0;
    int world_size = 1;
    EpochEnd epoch_end = EpochEnd::kShortBatch;
    bool shuffle = true;  ///< false: 0, 1, 2, …, for evaluation
  };

  /// Throws std::invalid_argument when a number is out of range.
  explicit BatchSampler(Options options);

  /// This rank's slice [n r / w, n (r + 1) / w) of the next global batch of n samples; may be
  /// empty.
  Batch Next();

  SamplerPosition position() const { return position_; }
  /// Throws std::invalid_argument when the position does not exist.
  void Seek(SamplerPosition position);

 private:
  void OrderEpoch();

  Options options_;
  SamplerPosition position_;
  std::int64_t ordered_epoch_ = -1;
  std::vector<std::int64_t> order_;
};

}  // namespace rung::training
