#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace rung::training {

/// While it lives, operators of this thread on `device` that gain from it (matrix products) compute
/// in bfloat16; parameters and gradients stay float32. Make it inside MicroBatch::loss_sum, around
/// the forward pass only, and compute the loss from logits.to(at::kFloat).
class Bf16Autocast {
 public:
  /// `enabled` false: does nothing, so that one line serves both precisions.
  Bf16Autocast(c10::DeviceType device, bool enabled);
  ~Bf16Autocast();
  Bf16Autocast(const Bf16Autocast&) = delete;
  Bf16Autocast& operator=(const Bf16Autocast&) = delete;

 private:
  c10::DeviceType device_;
  bool enabled_;
  bool was_enabled_ = false;
  c10::ScalarType dtype_before_ = c10::ScalarType::Float;
};

}  // namespace rung::training
