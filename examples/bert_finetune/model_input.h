#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>

#include "examples/bert_finetune/corpus.h"
#include "examples/bert_finetune/feature_cache.h"

namespace bert {

/// Some rows as tensors, padded to the longest of them.
struct ModelInput {
  at::Tensor states;  ///< token ids [rows, length] int64, or features [rows, length, 384] bfloat16
  at::Tensor
      mask;  ///< [rows, 1, 1, length] float32 to add to attention scores: 0, or -1e9 on padding
  at::Tensor labels;  ///< [rows] int64
};

/// The rows' token ids, [PAD] where there is none. `batch` is not empty.
ModelInput TokenInput(const Rows& rows, std::span<const size_t> batch);

/// The rows' cached features, 0 where there is no token. `batch` is not empty.
ModelInput FeatureInput(const Rows& rows, std::span<const size_t> batch, const FeatureCache& cache);

}  // namespace bert
