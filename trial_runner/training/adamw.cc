#include "trial_runner/training/adamw.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <unordered_set>
#include <utility>

namespace rung::training {
namespace {

void Require(bool holds, const char* rule, double found) {
  if (!holds) {
    throw TrainingError(std::string("AdamW: ") + rule + ", found " + std::to_string(found));
  }
}

}  // namespace

double LinearSchedule::Factor(std::int64_t done) const {
  if (done < warmup_steps) {
    return static_cast<double>(done + 1) / static_cast<double>(warmup_steps);
  }
  if (total_steps == 0) return 1;
  if (done >= total_steps) return 0;
  return static_cast<double>(total_steps - done) / static_cast<double>(total_steps - warmup_steps);
}

std::vector<ParameterGroup> DecayMatricesOnly(const std::vector<NamedTensor>& parameters,
                                              double weight_decay) {
  std::vector<ParameterGroup> groups = {{{}, weight_decay}, {{}, 0}};
  for (const NamedTensor& parameter : parameters) {
    groups[parameter.tensor.dim() >= 2 ? 0 : 1].parameters.push_back(parameter);
  }
  return groups;
}

AdamW::AdamW(std::vector<ParameterGroup> groups, AdamWOptions options, LinearSchedule schedule)
    : options_(options), schedule_(schedule) {
  Require(options.learning_rate > 0, "learning_rate must be > 0", options.learning_rate);
  Require(options.beta1 >= 0 && options.beta1 < 1, "beta1 must be in [0, 1)", options.beta1);
  Require(options.beta2 >= 0 && options.beta2 < 1, "beta2 must be in [0, 1)", options.beta2);
  Require(options.epsilon > 0, "epsilon must be > 0", options.epsilon);
  Require(schedule.warmup_steps >= 0, "warmup_steps must be >= 0",
          static_cast<double>(schedule.warmup_steps));
  Require(schedule.total_steps >= 0, "total_steps must be >= 0",
          static_cast<double>(schedule.total_steps));
  std::unordered_set<const at::TensorImpl*> seen;  // a tensor tied under two names is updated once
  for (ParameterGroup& group : groups) {
    Require(group.weight_decay >= 0, "weight_decay must be >= 0", group.weight_decay);
    Group& own = groups_.emplace_back();
    own.weight_decay = group.weight_decay;
    for (NamedTensor& parameter : group.parameters) {
      const bool first = seen.insert(parameter.tensor.unsafeGetTensorImpl()).second;
      if (!first || !parameter.tensor.requires_grad()) continue;
      const at::Tensor detached = parameter.tensor.detach();
      own.first_moments.push_back(at::zeros_like(detached));
      own.second_moments.push_back(at::zeros_like(detached));
      own.updates.push_back(at::zeros({}, detached.options().dtype(at::kFloat)));
      own.parameters.push_back(std::move(parameter));
    }
  }
}

double AdamW::learning_rate() const { return options_.learning_rate * schedule_.Factor(steps_); }

void AdamW::Step() {
  const c10::NoGradGuard no_grad;
  for (const Group& group : groups_) {
    std::vector<at::Tensor> parameters, gradients, first_moments, second_moments, updates;
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const at::Tensor& parameter = group.parameters[i].tensor;
      if (!parameter.grad().defined()) continue;
      parameters.push_back(parameter);
      gradients.push_back(parameter.grad());
      first_moments.push_back(group.first_moments[i]);
      second_moments.push_back(group.second_moments[i]);
      updates.push_back(group.updates[i]);
    }
    if (parameters.empty()) continue;
    at::_foreach_add_(updates, 1);
    at::_fused_adamw_(parameters, gradients, first_moments, second_moments, {}, updates,
                      learning_rate(), options_.beta1, options_.beta2, group.weight_decay,
                      options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }
  ++steps_;
}

std::vector<NamedTensor> AdamW::State() const {
  std::vector<NamedTensor> state;
  for (const Group& group : groups_) {
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const std::string& name = group.parameters[i].name;
      state.push_back({"adamw.m." + name, group.first_moments[i]});
      state.push_back({"adamw.v." + name, group.second_moments[i]});
      state.push_back({"adamw.t." + name, group.updates[i]});
    }
  }
  return state;
}

}  // namespace rung::training
