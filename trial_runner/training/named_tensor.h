#pragma once

#include <ATen/core/Tensor.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace rung::training {

/// A tensor and the name under which messages and checkpoints know it. The tensor is a handle: it
/// shares storage with the module that it comes from, so what is written here is written there.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;  ///< any shape, dtype and device, unless the taker says otherwise
};

/// What a module's named_parameters() or named_buffers() holds, in its order (an OrderedDict, or
/// anything else whose items have key() and value()).
template <typename Dictionary>
std::vector<NamedTensor> NamedTensors(const Dictionary& dictionary) {
  std::vector<NamedTensor> tensors;
  for (const auto& item : dictionary) tensors.push_back({item.key(), item.value()});
  return tensors;
}

/// What this library finds wrong: a bad environment, ranks that differ, a broken checkpoint.
/// LibTorch itself throws c10::Error. RunTrial (trial_main.h) turns both into one line on stderr
/// and a status.
class TrainingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rung::training
