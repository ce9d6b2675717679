#include <absl/status/status.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/check.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/stored_configuration.h"

/// From the rows back to the state.
namespace rung {
namespace {

/// The reason of an active experiment that is left out.
constexpr const char* kNotLoaded = "not_loaded";

/// Of ask/tell attempts that were stored without their lease, by the first versions.
constexpr std::chrono::milliseconds kClientLeaseUsual{600'000};

std::chrono::milliseconds LeaseOf(const AttemptRow& row) {
  if (!row.lease_s) return kClientLeaseUsual;
  return std::chrono::milliseconds(std::llround(*row.lease_s * 1'000));
}

DecisionRecord RecordOf(const DecisionRow& row) {
  return {row.bracket, row.level, row.trial,  row.step, row.value,    row.n_before,
          row.entries, row.rank,  row.cutoff, row.rule, row.decision, row.reason};
}

absl::Status WithId(ExperimentId id, const absl::Status& status) {
  return {status.code(),
          fmt::format("experiment {}: {}", ToString(id), std::string(status.message()))};
}

/// What the document asks for is not taken (any more); nothing is broken.
bool IsRefusal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
}

}  // namespace

absl::Status Scheduler::State::Restore(const Snapshot& snapshot, Now now, const SpecReader& parse,
                                       const ObjectiveReader& objective) {
  last_experiment_id_ = snapshot.last_experiment_id;
  for (const WorkerRow& row : snapshot.workers) {
    WorkerRecord& worker = workers_.Ensure(row.name);
    worker.row = row;
    worker.last_written = row.last_seen;
    if (row.state == "connected") {  // to the scheduler that was
      worker.row.state = "disconnected";
      Touch(worker);
    }
    if (worker.alive()) leases_.Grant(row.name, now.mono + config_.lease);
  }
  for (const RequestRow& row : snapshot.requests) requests_.Add(row);
  for (const ExperimentSnapshot& experiment : snapshot.experiments) {
    const ExperimentId id = experiment.experiment.id;
    absl::StatusOr<ExperimentSpec> spec = parse(experiment.experiment.document);
    absl::Status status = spec.status();
    if (status.ok()) status = RestoreExperiment(experiment, now, *std::move(spec), objective);
    if (IsRefusal(status)) {
      LeaveOut(experiment.experiment, status, now);
    } else if (!status.ok()) {
      return WithId(id, status);
    }
  }
  assign_work_ = true;
  return absl::OkStatus();
}

/// Readers see the rows alone, so the experiment's says that nothing comes of it.
void Scheduler::State::LeaveOut(ExperimentRow row, const absl::Status& refusal, Now now) {
  const ExperimentId id = row.id;
  not_loaded_[id] = std::string(refusal.message());
  if (row.state == ExperimentState::kActive) {
    row.reason = kNotLoaded;
    Log(std::move(row));
  }
  Log(EventRow{id, std::nullopt, std::nullopt, "experiment_not_loaded",
               fmt::format("this version does not take the document of experiment {}: {}",
                           ToString(id), not_loaded_[id]),
               now.wall});
}

absl::StatusOr<std::unique_ptr<ExperimentRecord>> Scheduler::State::MakeExperiment(
    ExperimentRow row, ExperimentSpec spec) {
  absl::StatusOr<std::unique_ptr<Searcher>> searcher =
      MakeSearcher(spec.searcher, spec.space, spec.seed);
  if (!searcher.ok()) return searcher.status();
  absl::StatusOr<std::unique_ptr<StoppingRule>> rule =
      MakeStoppingRule(spec.scheduler, spec.goal, spec.seed);
  if (!rule.ok()) return rule.status();
  if (spec.best_by == BestBy::kMaxT && !(*rule)->MaxStep()) {
    return absl::InvalidArgumentError(
        "best_by: max_t needs a scheduler that has max_t; allowed here: best, last");
  }
  return std::make_unique<ExperimentRecord>(std::move(row), std::move(spec), *std::move(searcher),
                                            *std::move(rule));
}

absl::Status Scheduler::State::RestoreExperiment(const ExperimentSnapshot& snapshot, Now now,
                                                 ExperimentSpec spec,
                                                 const ObjectiveReader& objective) {
  // A refusal comes from here alone, before anything of the experiment is in the state.
  absl::StatusOr<std::unique_ptr<ExperimentRecord>> made =
      MakeExperiment(snapshot.experiment, std::move(spec));
  if (!made.ok()) return made.status();
  ExperimentRecord& experiment = **made;
  if (const auto deadline = experiment.spec.limits.deadline) {
    const std::chrono::microseconds passed(now.wall.us - experiment.row.created.us);
    experiment.deadline =
        now.mono + *deadline - std::chrono::duration_cast<std::chrono::milliseconds>(passed);
  }
  std::vector<Configuration> created;
  for (const TrialRow& row : snapshot.trials) {
    absl::StatusOr<Configuration> configuration = ReadStoredConfiguration(row.params);
    if (!configuration.ok()) return configuration.status();
    created.push_back(*std::move(configuration));
    experiment.RestoreTrial(row);
  }
  experiment.searcher->Restore(created);
  for (const AttemptRow& row : snapshot.attempts) {
    if (absl::Status status = RestoreAttempt(experiment, row, now); !status.ok()) return status;
  }
  for (const CheckpointRow& row : snapshot.checkpoints) {
    experiment.At(row.attempt.trial.number).checkpoints.push_back(row);
  }
  RestoreMetrics(experiment, snapshot);
  RUNG_RETURN_IF_ERROR(RestoreRule(experiment, snapshot, objective));
  for (const TrialRecord& trial : experiment.trials()) {
    experiment.Index(trial);
    if (!trial.live()) continue;
    RestoreAnswers(experiment, experiment.At(trial.row.id.number), snapshot);
  }
  experiments_[experiment.row.id] = *std::move(made);
  if (experiment.row.reason == kNotLoaded) {  // by an earlier version
    experiment.row.reason.clear();
    Touch(experiment);
  }
  return absl::OkStatus();
}

/// Rows come in the order of attempts: the last one of a trial stays.
absl::Status Scheduler::State::RestoreAttempt(ExperimentRecord& experiment, const AttemptRow& row,
                                              Now now) {
  TrialRecord* trial = experiment.Find(row.id.trial.number);
  if (trial == nullptr) {
    return absl::DataLossError(fmt::format("attempt {} has no trial", ToString(row.id)));
  }
  if (trial->live()) {
    return absl::DataLossError(fmt::format("attempt {} is not final, but a later one exists",
                                           ToString(trial->attempt->row.id)));
  }
  if (row.exit_cause == ExitCause::kRefused) experiment.refused_by[row.workers] = row.message;
  experiment.gpu_s_of_final_attempts += row.gpu_s;
  AttemptRecord& attempt = trial->attempt.emplace(row, experiment.trial_template().reduce);
  if (!attempt.live()) return absl::OkStatus();
  if (attempt.ask_tell()) {
    attempt.client_lease = LeaseOf(row);
    leases_.Grant(row.id, now.mono + attempt.client_lease);
  } else {
    workers_.Hold(row.workers, experiment.gang().Total());
  }
  return absl::OkStatus();
}

void Scheduler::State::RestoreMetrics(ExperimentRecord& experiment,
                                      const ExperimentSnapshot& snapshot) {
  for (const MetricRow& row : snapshot.recent_metrics) {
    TrialRecord& trial = experiment.At(row.attempt.trial.number);
    // The newest attempt with rows may be one before the newest: then nothing of it is repeated.
    if (!trial.attempt || trial.attempt->row.id != row.attempt) continue;
    trial.attempt->stored[row.step][row.name] = row.value;
  }
  for (const MetricRow& row : snapshot.objective_metrics) {
    experiment.At(row.attempt.trial.number).objective[row.step] = row.value;
  }
}

/// After RestoreMetrics: what a paused trial has reported since its pause is not decided yet.
absl::Status Scheduler::State::RestoreRule(ExperimentRecord& experiment,
                                           const ExperimentSnapshot& snapshot,
                                           const ObjectiveReader& objective) {
  std::vector<DecisionRecord> records;
  std::map<TrialNumber, Steps> paused_at;
  for (const DecisionRow& row : snapshot.decisions) {
    records.push_back(RecordOf(row));
    experiment.last_seq = row.seq;
    if (row.decision == ToString(Decision::kPause)) paused_at[row.trial] = row.step;
  }
  experiment.rule->Restore(records);
  if (experiment.rule->NeedsHistory()) {
    const absl::StatusOr<std::vector<MetricRow>> history = objective(experiment.row.id);
    if (!history.ok()) return history.status();
    for (const MetricRow& row : *history) {
      experiment.rule->Observe({row.attempt.trial.number, row.step, row.value});
    }
  }
  for (const TrialRecord& trial : experiment.trials()) {
    const TrialNumber number = trial.row.id.number;
    if (IsFinal(trial.row.state)) experiment.rule->OnTrialEnded(number, trial.row.state);
    if (trial.row.state != TrialState::kPaused) continue;
    for (auto it = trial.objective.upper_bound(paused_at.at(number)); it != trial.objective.end();
         ++it) {
      experiment.rule->OnReport({number, it->first, it->second});
    }
  }
  return absl::OkStatus();
}

/// Finds again what the reports of a live attempt were answered. The step of a stop or a pause is
/// in its decision row, but max_t and a non-finite value past the last level write none.
void Scheduler::State::RestoreAnswers(ExperimentRecord& experiment, TrialRecord& trial,
                                      const ExperimentSnapshot& snapshot) {
  AttemptRecord& attempt = *trial.attempt;
  for (const DecisionRow& row : snapshot.decisions) {
    if (row.trial != trial.row.id.number || row.attempt != attempt.row.id.attempt) continue;
    if (row.decision == "promote") attempt.went_on = {row.step, row.reason};
    const std::optional<Decision> decision = ParseDecision(row.decision);
    if (!decision || decision == Decision::kContinue) continue;
    // Of several the first: after a pause the others were decided at a promotion and told nobody.
    attempt.stopped_at = row.step;
    attempt.told = *decision;
    break;
  }
  if (attempt.row.state != AttemptState::kStopping) return;
  attempt.open.StopWaiting();
  const std::optional<Steps> max_step = experiment.rule->MaxStep();
  if (trial.row.state == TrialState::kCompleted && max_step) {
    attempt.finished_at = attempt.FirstStepAtEnd(experiment.spec, *max_step);
    if (!attempt.stopped_at) attempt.stopped_at = attempt.finished_at;
    if (!attempt.finished_at) return;
    trial.objective.erase(trial.objective.upper_bound(*attempt.finished_at), trial.objective.end());
  } else if (trial.row.state == TrialState::kStopped && !attempt.stopped_at) {
    for (const auto& [step, values] : attempt.stored) {
      const auto objective = values.find(experiment.spec.metric);
      if (objective == values.end() || std::isfinite(objective->second)) continue;
      attempt.stopped_at = step;
      break;
    }
  }
}

}  // namespace rung
