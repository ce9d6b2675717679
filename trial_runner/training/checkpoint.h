/// Checkpoints of a data-parallel run: either whole or not there, whatever kills the process.
///
/// A checkpoint is a folder with one file, state.safetensors (github.com/huggingface/safetensors),
/// that Python reads too; the progress and a checksum of each tensor are the JSON text "rung" of
/// its metadata.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "trial_runner/training/batch_sampler.h"
#include "trial_runner/training/named_tensor.h"
#include "trial_runner/training/process_group.h"

namespace rung::training {

struct Progress {
  std::int64_t step = 0;         ///< finished units of training, as reported to rung
  std::int64_t updates = 0;      ///< optimiser steps, AdamW::steps()
  SamplerPosition sampler = {};  ///< where the next batch begins
  bool operator==(const Progress&) const = default;
};

/// All ranks call it at the same step. Rank 0 writes `tensors` (trainable parameters,
/// AdamW::State(); names unique) and `progress` to `folder`/step-N: first under a temporary name,
/// synced, then renamed. A step-N that is there already is replaced; temporary leftovers of killed
/// processes are removed. Returns `folder`/step-N on all ranks once it is durable; hand it to
/// report::Trial::Checkpoint on rank 0. Throws TrainingError on every rank when rank 0 could not
/// write.
std::filesystem::path SaveCheckpoint(ProcessGroup& group, const std::filesystem::path& folder,
                                     const Progress& progress,
                                     std::span<const NamedTensor> tensors);

/// All ranks call it; rank 0 reads `path` (what SaveCheckpoint returned), checks sizes and
/// checksum, and every rank's `tensors` are overwritten in place. The checkpoint must hold exactly
/// these names with these shapes and dtypes. Throws TrainingError on every rank that says what is
/// wrong.
Progress LoadCheckpoint(ProcessGroup& group, const std::filesystem::path& path,
                        std::span<const NamedTensor> tensors);

}  // namespace rung::training
