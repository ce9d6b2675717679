#include "examples/bert_finetune/features.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "examples/bert_finetune/batches.h"
#include "examples/bert_finetune/bert_model.h"
#include "examples/bert_finetune/model_input.h"
#include "trial_runner/training/autocast.h"

namespace bert {
namespace {

constexpr size_t kBatchRows = 64;
constexpr uint64_t kFormat = 1;  // a change of what is computed needs another number

uint64_t Key(const Corpus& corpus, const Safetensors& weights, const FeatureOptions& options) {
  const std::array<uint64_t, 6> parts = {
      kFormat,
      Fingerprint(weights.file_bytes()),
      Fingerprint(std::as_bytes(std::span(corpus.rows.tokens))),
      Fingerprint(std::as_bytes(std::span(corpus.rows.begins))),
      static_cast<uint64_t>(options.layers),
      options.bf16 ? 1U : 0U,
  };
  return Fingerprint(std::as_bytes(std::span(parts)));
}

/// Computes batches of rows side by side and writes each row's features to its own place.
class Builder {
 public:
  Builder(const Rows& rows, BertClassifier model, const FeatureOptions& options,
          std::span<uint16_t> values)
      : rows_(rows), model_(std::move(model)), options_(options), values_(values) {
    std::vector<size_t> all(rows.size());
    std::iota(all.begin(), all.end(), size_t{0});
    batches_ = LengthSortedBatches(rows, all, kBatchRows);
  }

  absl::Status Run() {
    std::vector<std::thread> threads;
    std::vector<absl::Status> results(static_cast<size_t>(std::max(1, options_.threads)));
    for (absl::Status& result : results) threads.emplace_back([&] { result = Work(); });
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& result : results) {
      if (!result.ok()) return result;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Work() {
    try {
      at::set_num_threads(1);
      const torch::NoGradGuard no_grad;
      for (size_t i = next_++; i < batches_.size(); i = next_++) {
        if (options_.cancelled()) return absl::CancelledError("stopped while computing features");
        Compute(batches_[batches_.size() - 1 - i]);  // longest first: an even end
        Show(i + 1);
      }
    } catch (const std::exception& error) {
      next_ = batches_.size();
      return absl::InternalError(std::string("computing features: ") + error.what());
    }
    return absl::OkStatus();
  }

  void Compute(const std::vector<size_t>& batch) {
    const ModelInput input = TokenInput(rows_, batch);
    torch::Tensor hidden;
    {
      const rung::training::Bf16Autocast autocast(c10::kCPU, options_.bf16);
      hidden = model_->ForwardTo(options_.layers, model_->Embed(input.states), input.mask);
    }
    hidden = hidden.to(torch::kBFloat16).contiguous();
    const auto* from = static_cast<const uint16_t*>(hidden.const_data_ptr());
    for (const size_t row : batch) {
      std::copy_n(from, rows_.length(row) * kHidden, values_.data() + rows_.begins[row] * kHidden);
      from += hidden.size(1) * kHidden;
    }
  }

  void Show(size_t done) {
    const size_t tenth = std::max<size_t>(1, batches_.size() / 10);
    if (done % tenth != 0 && done != batches_.size()) return;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    std::fprintf(stderr, "bert_finetune: features of the frozen layers: %3zu %%, %.0f s\n",
                 100 * done / batches_.size(), elapsed.count());
  }

  const Rows& rows_;
  BertClassifier model_;
  const FeatureOptions& options_;
  std::span<uint16_t> values_;
  std::vector<std::vector<size_t>> batches_;
  std::atomic<size_t> next_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

absl::StatusOr<FeatureCache> OpenFeatures(const Corpus& corpus, const Safetensors& weights,
                                          const FeatureOptions& options) {
  const FeatureCache::Shape shape = {.key = Key(corpus, weights, options),
                                     .tokens = corpus.rows.tokens.size(),
                                     .hidden = static_cast<uint64_t>(kHidden)};
  const auto fill = [&](std::span<uint16_t> values) -> absl::Status {
    BertClassifier model(BertClassifierImpl::Options{
        .first_layer = 0, .attention = options.bf16 ? Attention::kPlain : Attention::kFused});
    if (absl::Status loaded = model->Load(weights); !loaded.ok()) return loaded;
    model->eval();
    return Builder(corpus.rows, std::move(model), options, values).Run();
  };
  return FeatureCache::OpenOrBuild(options.folder, shape, fill, options.cancelled);
}

}  // namespace bert
