#pragma once

#include <absl/status/statusor.h>

#include <functional>

#include "examples/bert_finetune/corpus.h"
#include "examples/bert_finetune/feature_cache.h"
#include "examples/bert_finetune/safetensors.h"

namespace bert {

struct FeatureOptions {
  std::filesystem::path folder;  ///< of the cache
  int64_t layers = 5;            ///< how many lower layers are frozen, in [1, 5]
  bool bf16 = false;             ///< matrix products in bfloat16
  int threads = 1;               ///< used only when the features must be computed
  std::function<bool()> cancelled = [] { return false; };
};

/// The outputs of the lower layers for all rows of the corpus, without dropout: from the cache, or
/// computed now, with progress on stderr. The key is a fingerprint of the weights' file, of all
/// tokens and of `layers` and `bf16`. Errors: those of FeatureCache, and of the weights.
absl::StatusOr<FeatureCache> OpenFeatures(const Corpus& corpus, const Safetensors& weights,
                                          const FeatureOptions& options);

}  // namespace bert
