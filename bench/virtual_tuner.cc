#include "bench/virtual_tuner.h"

#include "core/check.h"

namespace rung {

VirtualTuner::VirtualTuner(std::span<const LearningCurve> curves, std::span<const size_t> order,
                           const TunerSetting& setting, StoppingRule& rule)
    : curves_(curves), order_(order), setting_(setting), rule_(rule), idle_(setting.workers) {
  RUNG_CHECK(setting.trials >= 1 && setting.workers >= 1);
  RUNG_CHECK(order.size() >= static_cast<size_t>(setting.trials));
}

TunerResult VirtualTuner::Run() {
  while (true) {
    while (idle_ > 0 && GiveWork()) --idle_;
    if (step_ends_.empty()) break;
    const StepEnd end = step_ends_.top();
    step_ends_.pop();
    now_ms_ = end.at_ms;
    OnStepEnd(end.trial);
  }
  result_.makespan_ms = now_ms_;
  result_.selected = Selected();
  return result_;
}

bool VirtualTuner::GiveWork() {
  if (const auto promoted = rule_.NextPromotion(std::nullopt)) {
    Resume(*promoted, Grant::kEarned);
    return true;
  }
  if (trials_.size() < static_cast<size_t>(setting_.trials)) {
    trials_.emplace_back();
    Schedule({static_cast<int32_t>(trials_.size()) - 1});
    return true;
  }
  if (!step_ends_.empty() || result_.completed > 0) return false;
  const auto drained = rule_.NextDrain();
  if (drained) Resume(*drained, Grant::kDrain);
  return drained.has_value();
}

void VirtualTuner::Resume(TrialNumber trial, Grant grant) {
  const Verdict verdict = rule_.Promote(trial, grant);
  RUNG_CHECK(verdict.decision == Decision::kContinue);  // nothing is reported while it waits
  Schedule(trial);
}

void VirtualTuner::OnStepEnd(TrialNumber trial) {
  Progress& progress = ProgressOf(trial);
  ++progress.steps;
  ++result_.steps;
  progress.value = CurveOf(trial).values.at(static_cast<size_t>(progress.steps - 1));
  const Verdict verdict = rule_.OnReport({trial, progress.steps, progress.value});
  const bool complete = progress.steps >= setting_.max_t;
  if (complete) ++result_.completed;
  if (!complete && verdict.decision == Decision::kContinue) {
    Schedule(trial);
  } else {
    ++idle_;
  }
}

const LearningCurve& VirtualTuner::CurveOf(TrialNumber trial) const {
  return curves_[order_[static_cast<size_t>(trial.value)]];
}

VirtualTuner::Progress& VirtualTuner::ProgressOf(TrialNumber trial) {
  return trials_.at(static_cast<size_t>(trial.value));
}

void VirtualTuner::Schedule(TrialNumber trial) {
  step_ends_.push({now_ms_ + CurveOf(trial).step_ms, next_sequence_++, trial});
}

TrialNumber VirtualTuner::Selected() const {
  size_t best = 0;
  for (size_t i = 1; i < trials_.size(); ++i) {
    const bool further = trials_[i].steps > trials_[best].steps;
    const bool as_far = trials_[i].steps == trials_[best].steps;
    if (further || (as_far && trials_[i].value < trials_[best].value)) best = i;
  }
  return {static_cast<int32_t>(best)};
}

}  // namespace rung
