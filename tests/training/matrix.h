/// One small training run in many shapes (even, uneven, empty shares, unused parameters, ...), so
/// that worlds of different size and devices can be compared.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "trial_runner/training/data_parallel.h"
#include "trial_runner/training/named_tensor.h"

namespace rung::training {

/// A 16-64-64-4 perceptron with tanh, float32. "extra.weight" adds to the output only for batches
/// that hold a sample with index % 7 == 3, "never.weight" never; "twin" is "layer1.weight" once
/// more.
class Perceptron {
 public:
  Perceptron(c10::Device device, std::uint64_t seed, bool with_unused);
  const std::vector<NamedTensor>& parameters() const { return parameters_; }

  /// indices: samples of the fixed data set → SUM of their cross entropies, float32 scalar, nats.
  at::Tensor LossSum(const std::vector<std::int64_t>& indices) const;

 private:
  const at::Tensor& Parameter(const char* name) const;

  c10::Device device_;
  bool with_unused_;
  std::vector<NamedTensor> parameters_;
};

struct MatrixCase {
  std::string name;
  std::int64_t sample_count;  ///< batches of 64: what is left makes the epoch's last batch
  int pieces = 1;             ///< micro-batches of a share
  bool with_unused = false;
  bool bf16_gradients = false;
  bool clipping = false;
  double tolerance = 1e-5;  ///< largest difference to a world of 1
};

const std::vector<MatrixCase>& MatrixCases();

/// Rank program "matrix": trains every case for 20 AdamW steps and writes OUT/CASE.RANK, the
/// float32 bytes of all parameters and then the losses. Arguments: {"out": folder, "gpu": bool}.
std::vector<float> ReadOutcome(const std::filesystem::path& out, const std::string& name, int rank);

}  // namespace rung::training
