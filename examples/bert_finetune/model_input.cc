#include "examples/bert_finetune/model_input.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "examples/bert_finetune/bert_shape.h"

namespace bert {
namespace {

constexpr float kMasked = -1e9F;  // its exponential is 0 in bfloat16 and float32 alike

int64_t Longest(const Rows& rows, std::span<const size_t> batch) {
  size_t longest = 0;
  for (const size_t row : batch) longest = std::max(longest, rows.length(row));
  return static_cast<int64_t>(longest);
}

/// Mask and labels of `batch`; states are left to the caller.
ModelInput WithoutStates(const Rows& rows, std::span<const size_t> batch) {
  const auto count = static_cast<int64_t>(batch.size());
  const int64_t longest = Longest(rows, batch);
  ModelInput input;
  input.mask = at::zeros({count, 1, 1, longest}, at::kFloat);
  input.labels = at::empty({count}, at::kLong);
  auto* mask = input.mask.data_ptr<float>();
  auto* labels = input.labels.data_ptr<int64_t>();
  for (const size_t row : batch) {
    std::fill(mask + rows.length(row), mask + longest, kMasked);
    mask += longest;
    *labels++ = rows.labels[row];
  }
  return input;
}

}  // namespace

ModelInput TokenInput(const Rows& rows, std::span<const size_t> batch) {
  ModelInput input = WithoutStates(rows, batch);
  const int64_t longest = input.mask.size(3);
  input.states = at::zeros({static_cast<int64_t>(batch.size()), longest}, at::kLong);
  auto* tokens = input.states.data_ptr<int64_t>();
  for (const size_t row : batch) {
    std::ranges::copy(rows.row_tokens(row), tokens);
    tokens += longest;
  }
  return input;
}

ModelInput FeatureInput(const Rows& rows, std::span<const size_t> batch,
                        const FeatureCache& cache) {
  ModelInput input = WithoutStates(rows, batch);
  const int64_t longest = input.mask.size(3);
  input.states = at::zeros({static_cast<int64_t>(batch.size()), longest, kHidden}, at::kBFloat16);
  auto* features = static_cast<uint16_t*>(input.states.data_ptr());
  for (const size_t row : batch) {
    std::ranges::copy(cache.Values(rows.begins[row], rows.length(row)), features);
    features += longest * kHidden;
  }
  return input;
}

}  // namespace bert
