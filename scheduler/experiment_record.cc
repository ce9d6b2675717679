#include "scheduler/experiment_record.h"

#include <utility>

#include "core/check.h"

namespace rung {

ExperimentRecord::ExperimentRecord(ExperimentRow experiment_row, ExperimentSpec experiment_spec,
                                   std::unique_ptr<Searcher> experiment_searcher,
                                   std::unique_ptr<StoppingRule> experiment_rule)
    : row(std::move(experiment_row)),
      spec(std::move(experiment_spec)),
      searcher(std::move(experiment_searcher)),
      rule(std::move(experiment_rule)),
      template_(spec.trial.value_or(TrialTemplate{})) {}

TrialRecord* ExperimentRecord::Find(TrialNumber number) {
  if (number.value < 0 || static_cast<size_t>(number.value) >= trials_.size()) return nullptr;
  return &trials_[static_cast<size_t>(number.value)];
}

TrialRecord& ExperimentRecord::At(TrialNumber number) {
  TrialRecord* trial = Find(number);
  RUNG_CHECK(trial != nullptr);
  return *trial;
}

bool ExperimentRecord::HasNext() {
  if (!asked_) {
    next_ = searcher->Suggest({static_cast<int32_t>(trials_.size())});
    asked_ = true;
  }
  return next_.has_value();
}

TrialRecord& ExperimentRecord::AddTrial(WallTime now) {
  RUNG_CHECK(asked_ && next_.has_value());
  const TrialNumber number{static_cast<int32_t>(trials_.size())};
  TrialRow trial_row;
  trial_row.id = {row.id, number};
  trial_row.params = next_->ToJson();
  trial_row.bracket = rule->BracketOf(number);
  trial_row.created = now;
  asked_ = false;
  TrialRecord& trial = RestoreTrial(std::move(trial_row));
  Index(trial);
  return trial;
}

TrialRecord& ExperimentRecord::RestoreTrial(TrialRow trial_row) {
  RUNG_CHECK(trial_row.id.number.value == static_cast<int32_t>(trials_.size()));
  trials_.emplace_back().row = std::move(trial_row);
  return trials_.back();
}

void ExperimentRecord::Index(const TrialRecord& trial) {
  ++counts_[static_cast<size_t>(trial.row.state)];
  if (trial.row.state == TrialState::kQueued) queued_.insert(trial.row.id.number);
  if (trial.row.state == TrialState::kPaused) paused_.insert(trial.row.id.number);
  if (trial.live()) live_.insert(trial.row.id.number);
  any_report = any_report || trial.row.last_step.has_value();
}

void ExperimentRecord::SetTrialState(TrialRecord& trial, TrialState state, std::string reason) {
  RUNG_CHECK(!IsFinal(trial.row.state));
  --counts_[static_cast<size_t>(trial.row.state)];
  ++counts_[static_cast<size_t>(state)];
  trial.row.state = state;
  trial.row.reason = std::move(reason);
  queued_.erase(trial.row.id.number);
  paused_.erase(trial.row.id.number);
  if (state == TrialState::kQueued) queued_.insert(trial.row.id.number);
  if (state == TrialState::kPaused) paused_.insert(trial.row.id.number);
}

void ExperimentRecord::SetAttemptState(TrialRecord& trial, AttemptState state) {
  RUNG_CHECK(trial.live());
  trial.attempt->row.state = state;
  if (IsFinal(state)) live_.erase(trial.row.id.number);
}

void ExperimentRecord::SetAttempt(TrialRecord& trial, AttemptRecord attempt) {
  RUNG_CHECK(!trial.live() && attempt.live());
  trial.attempt.emplace(std::move(attempt));
  live_.insert(trial.row.id.number);
}

}  // namespace rung
