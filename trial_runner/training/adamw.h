/// AdamW with LibTorch's fused kernel, and the learning-rate schedule of BERT fine-tuning.
#pragma once

#include <cstdint>
#include <vector>

#include "trial_runner/training/named_tensor.h"

namespace rung::training {

/// Linear warm-up, then linear decay to nothing (Devlin et al., 2019).
struct LinearSchedule {
  std::int64_t warmup_steps = 0;  ///< updates until the full rate is reached, >= 0
  std::int64_t total_steps = 0;   ///< updates after which the rate is 0; 0: never decays

  /// Share of the peak rate in [0, 1] for the update that follows `done` earlier ones:
  /// (done + 1) / warmup_steps during warm-up, then (total - done) / (total - warmup), then 0.
  double Factor(std::int64_t done) const;
};

struct ParameterGroup {
  std::vector<NamedTensor> parameters;  ///< floating; those without requires_grad are left out
  double weight_decay = 0;              ///< decoupled, per unit of learning rate, >= 0
};

/// BERT's convention: tensors of two or more dimensions decay, biases and norms do not.
std::vector<ParameterGroup> DecayMatricesOnly(const std::vector<NamedTensor>& parameters,
                                              double weight_decay);

struct AdamWOptions {
  double learning_rate = 1e-3;  ///< peak, > 0
  double beta1 = 0.9;           ///< in [0, 1)
  double beta2 = 0.999;         ///< in [0, 1)
  double epsilon = 1e-8;        ///< > 0
};

/// Decoupled weight decay (Loshchilov and Hutter, 2019). Equal gradients give equal bits on all
/// ranks.
class AdamW {
 public:
  /// Throws TrainingError when a number is out of range.
  AdamW(std::vector<ParameterGroup> groups, AdamWOptions options, LinearSchedule schedule = {});

  /// Applies each parameter's grad(); one without gradient is left as it is.
  void Step();

  /// Rate that the next Step() uses.
  double learning_rate() const;
  std::int64_t steps() const { return steps_; }
  /// After a resume: continues the schedule behind `steps` updates.
  void set_steps(std::int64_t steps) { steps_ = steps; }

  /// What a checkpoint must hold beside the parameters: "adamw.m.NAME", "adamw.v.NAME" (shape,
  /// dtype and device of the parameter) and "adamw.t.NAME" (float32 scalar, that parameter's
  /// updates).
  std::vector<NamedTensor> State() const;

 private:
  struct Group {
    std::vector<NamedTensor> parameters;
    std::vector<at::Tensor> first_moments, second_moments, updates;
    double weight_decay;
  };
  std::vector<Group> groups_;
  AdamWOptions options_;
  LinearSchedule schedule_;
  std::int64_t steps_ = 0;
};

}  // namespace rung::training
