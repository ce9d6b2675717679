#include <absl/status/status.h>
#include <fmt/format.h>

#include <utility>

#include "core/check.h"
#include "scheduler/experiment_plan.h"
#include "scheduler/scheduler_state.h"

/// What clients ask for (service Tuner).
namespace rung {
/// Of an experiment that is not here: OK if it has ended.
absl::Status Scheduler::State::CheckHasEnded(ExperimentId id) const {
  if (id.value < 1 || id > last_experiment_id_) {
    return absl::NotFoundError(
        fmt::format("there is no experiment {}: `rung list` shows those that exist", ToString(id)));
  }
  const auto why = not_loaded_.find(id);
  if (why == not_loaded_.end()) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "experiment {} is not loaded, its rows are as they were: {}", ToString(id), why->second));
}

void Scheduler::State::On(const CreateExperiment& e) {
  if (AnswerRepeat(e.reply, e.request_id, "CreateExperiment")) return;
  const ExperimentSpec& spec = e.spec;
  ExperimentRow row;
  row.id = {last_experiment_id_.value + 1};
  row.name = spec.name;
  row.document = e.document;
  row.metric = spec.metric;
  row.goal = spec.goal;
  row.best_by = spec.best_by;
  row.seed = spec.seed;
  row.owner = spec.owner.empty() ? e.owner : spec.owner;
  row.priority = spec.priority;
  row.created = now_.wall;
  absl::StatusOr<std::unique_ptr<ExperimentRecord>> made = MakeExperiment(row, spec);
  if (!made.ok()) return Answer(e.reply, made.status());

  ExperimentRecord& experiment = **made;
  experiment.row.planned_trials = experiment.searcher->PlannedTrials();
  experiment.row.max_step = experiment.rule->MaxStep();
  const absl::StatusOr<Plan> plan = MakePlan({.rule = spec.scheduler,
                                              .trials = experiment.row.planned_trials,
                                              .concurrent = spec.limits.max_concurrent});
  if (!plan.ok()) return Answer(e.reply, plan.status());
  experiment.row.plan = PlanJson(*plan, experiment.row.planned_trials);
  if (spec.limits.deadline) experiment.deadline = now_.mono + *spec.limits.deadline;
  last_experiment_id_ = row.id;
  experiments_[row.id] = *std::move(made);
  assign_work_ = true;
  Touch(experiment);
  LogEvent(experiment, "experiment_created",
           fmt::format("experiment '{}' was created by {}", row.name, experiment.row.owner));
  Remember(e.request_id, "CreateExperiment", ToString(row.id));
  Answer(e.reply, ExperimentCreated{row.id});
}

void Scheduler::State::On(const StopExperiment& e) {
  if (AnswerRepeat(e.reply, e.request_id, "StopExperiment")) return;
  ExperimentRecord* experiment = FindExperiment(e.experiment);
  if (experiment == nullptr) {
    const absl::Status ended = CheckHasEnded(e.experiment);
    if (!ended.ok()) return Answer(e.reply, ended);
  }
  // Of an experiment that has ended the wish is fulfilled already.
  if (experiment != nullptr && experiment->row.state != ExperimentState::kStopping) {
    BeginStopping(*experiment, "stop_requested");
  }
  Remember(e.request_id, "StopExperiment", "");
  Answer(e.reply, Done{});
}

void Scheduler::State::On(const StopTrial& e) {
  if (AnswerRepeat(e.reply, e.request_id, "StopTrial")) return;
  const ExperimentId id = e.trial.experiment;
  ExperimentRecord* experiment = FindExperiment(id);
  if (experiment == nullptr) {
    const absl::Status ended = CheckHasEnded(id);
    if (!ended.ok()) return Answer(e.reply, ended);
  }
  if (experiment != nullptr) {
    TrialRecord* trial = experiment->Find(e.trial.number);
    if (trial == nullptr) {
      return Answer(e.reply, absl::NotFoundError(fmt::format(
                                 "there is no trial {}: trials of experiment {} so far: {}",
                                 ToString(e.trial), ToString(id), experiment->trials().size())));
    }
    if (!IsFinal(trial->row.state)) {
      EndTrial(*experiment, *trial, TrialState::kCancelled, "stop_requested");
    }
    if (trial->live()) StopNow(*experiment, *trial);
  }
  Remember(e.request_id, "StopTrial", "");
  Answer(e.reply, Done{});
}

void Scheduler::State::On(const StartTrial& e) {
  if (AnswerRepeat(e.reply, e.request_id, "StartTrial")) return;
  ExperimentRecord* experiment = FindExperiment(e.experiment);
  if (experiment == nullptr) {
    const absl::Status ended = CheckHasEnded(e.experiment);
    if (!ended.ok()) return Answer(e.reply, ended);
    return Answer(e.reply, ExperimentFinished{});
  }
  if (const absl::Status status = CheckCanStart(e, *experiment); !status.ok()) {
    return Answer(e.reply, status);
  }
  if (experiment->row.state == ExperimentState::kStopping) {
    return Answer(e.reply, ExperimentFinished{});
  }
  TrialRecord* trial = NextForClient(*experiment);
  if (trial == nullptr) return Answer(e.reply, NoTrialNow{});
  AssignToClient(*experiment, *trial, e);
  Remember(e.request_id, "StartTrial", ToString(trial->attempt->row.id));
  Answer(e.reply, StartedAnswer(*experiment, *trial));
}

absl::Status Scheduler::State::CheckCanStart(const StartTrial& e,
                                             const ExperimentRecord& experiment) const {
  if (experiment.spec.trial) {
    return absl::FailedPreconditionError(
        fmt::format("experiment {} has a trial template, so its workers start its trials: ask/tell "
                    "needs a document without the key `trial`",
                    ToString(e.experiment)));
  }
  if (experiment.row.state == ExperimentState::kPaused) {
    return absl::FailedPreconditionError(
        fmt::format("experiment {} is paused, reason {}: it hands out no trials",
                    ToString(e.experiment), experiment.row.reason));
  }
  return absl::OkStatus();
}

TrialRecord* Scheduler::State::NextForClient(ExperimentRecord& experiment) {
  const std::optional<int32_t> max_concurrent = experiment.spec.limits.max_concurrent;
  if (max_concurrent && static_cast<int64_t>(experiment.live().size()) >= *max_concurrent) {
    return nullptr;
  }
  for (WorkDemand demand = DemandOf(experiment, nullptr);; demand = DemandOf(experiment, nullptr)) {
    if (!demand.queued.empty()) return &experiment.At(demand.queued.front().number);
    if (demand.promotions.empty()) break;
    // The promoted trial is queued now, and waits there if its last client has not finished it.
    Promote(experiment, experiment.At(demand.promotions.front().number),
            demand.drain ? Grant::kDrain : Grant::kEarned);
  }
  if (!experiment.HasNext()) return nullptr;
  TrialRecord& trial = experiment.AddTrial(now_.wall);
  LogEvent(trial, "trial_created", fmt::format("trial {} was created", ToString(trial.row.id)));
  return &trial;
}

void Scheduler::State::On(const ClientReport& e) {
  const absl::StatusOr<Target> target = FindClientAttempt(e.attempt);
  if (!target.ok()) return Answer(e.reply, target.status());
  ExperimentRecord& experiment = *target->experiment;
  TrialRecord& trial = *target->trial;
  RenewClientLease(trial);
  const absl::StatusOr<std::vector<MetricValue>> fresh =
      CheckReport(experiment, trial, 0, e.step, e.metrics);
  if (!fresh.ok()) return Answer(e.reply, fresh.status());

  const bool repeated = fresh->empty();
  if (!repeated) {
    std::vector<ReducedValue> values;
    for (const MetricValue& metric : *fresh) values.push_back({metric.name, metric.value, 1});
    StoreStep(experiment, trial, e.step, values);
  }
  const Told told = ToldAt(experiment, trial, e.step, repeated);
  Answer(e.reply, ReportAnswered{told.decision, told.reason});
}

void Scheduler::State::On(const KeepAlive& e) {
  const absl::StatusOr<Target> target = FindClientAttempt(e.attempt);
  if (!target.ok()) return Answer(e.reply, target.status());
  RenewClientLease(*target->trial);
  Answer(e.reply, Done{});
}

void Scheduler::State::On(const FinishTrial& e) {
  if (AnswerRepeat(e.reply, e.request_id, "FinishTrial")) return;
  const absl::StatusOr<Target> target = FindClientAttempt(e.attempt);
  if (!target.ok()) return Answer(e.reply, target.status());
  ExperimentRecord& experiment = *target->experiment;
  TrialRecord& trial = *target->trial;
  const ExitCause cause = e.failed ? ExitCause::kFailed : ExitCause::kCompleted;
  const bool stopping = trial.attempt->row.state == AttemptState::kStopping;
  EndAttempt(experiment, trial,
             {.state = AttemptState::kExited,
              .cause = stopping && !e.failed ? ExitCause::kStopped : cause,
              .exit_code = std::nullopt,
              .message = e.message});
  AfterExit(experiment, trial, cause);
  Remember(e.request_id, "FinishTrial", "");
  Answer(e.reply, Done{});
}

absl::StatusOr<Scheduler::State::Target> Scheduler::State::FindClientAttempt(AttemptId id) {
  ExperimentRecord* experiment = FindExperiment(id.trial.experiment);
  TrialRecord* trial = experiment == nullptr ? nullptr : experiment->Find(id.trial.number);
  if (experiment == nullptr) {
    RUNG_RETURN_IF_ERROR(CheckHasEnded(id.trial.experiment));
    return absl::FailedPreconditionError(
        fmt::format("experiment {} has ended: attempt {} is over and nothing more is stored of it",
                    ToString(id.trial.experiment), ToString(id)));
  }
  if (trial == nullptr || !trial->attempt || id.attempt > trial->attempt->row.id.attempt ||
      id.attempt < 0) {
    return absl::NotFoundError(
        fmt::format("there is no attempt {}: StartTrial hands attempts out", ToString(id)));
  }
  if (experiment->spec.trial) {
    return absl::FailedPreconditionError(
        fmt::format("attempt {} runs on a worker: it reports through RUNG_SOCKET", ToString(id)));
  }
  const bool newest = trial->attempt->row.id == id;
  if (!newest || trial->attempt->row.state == AttemptState::kLost) {
    return absl::FailedPreconditionError(
        fmt::format("attempt {} is lost: its lease ran out and its trial is no longer yours. "
                    "Nothing was stored; ask for a trial with StartTrial",
                    ToString(id)));
  }
  if (!trial->live()) {
    return absl::FailedPreconditionError(
        fmt::format("attempt {} was finished before: nothing was stored", ToString(id)));
  }
  return Target{experiment, trial};
}

void Scheduler::State::RenewClientLease(const TrialRecord& trial) {
  leases_.Grant(trial.attempt->row.id, now_.mono + trial.attempt->client_lease);
}

TrialStarted Scheduler::State::StartedAnswer(const ExperimentRecord& experiment,
                                             const TrialRecord& trial) {
  return {.attempt = trial.attempt->row.id,
          .params = trial.row.params,
          .resume_step = trial.attempt->row.resume_step,
          .max_step = experiment.rule->MaxStep()};
}

void Scheduler::State::Answer(ReplyToken token, absl::StatusOr<ReplyValue> value) {
  messages_.emplace_back(Reply{token, std::move(value)});
}

bool Scheduler::State::AnswerRepeat(ReplyToken token, const std::string& request_id,
                                    const std::string& method) {
  const absl::StatusOr<const RequestRow*> known = requests_.Find(request_id, method);
  if (!known.ok()) {
    Answer(token, known.status());
    return true;
  }
  if (*known == nullptr) return false;
  Answer(token, AnswerOf(**known));
  return true;
}

void Scheduler::State::Remember(const std::string& request_id, const std::string& method,
                                std::string answer) {
  if (request_id.empty()) return;
  RequestRow row{request_id, method, std::move(answer), now_.wall};
  requests_.Add(row);
  Log(std::move(row));
}

absl::StatusOr<ReplyValue> Scheduler::State::AnswerOf(const RequestRow& request) {
  if (request.method == "CreateExperiment") {
    const absl::StatusOr<ExperimentId> id = ParseExperimentId(request.answer);
    if (!id.ok()) return absl::DataLossError(std::string(id.status().message()));
    return ExperimentCreated{*id};
  }
  if (request.method == "StartTrial") {
    const absl::StatusOr<AttemptId> id = ParseAttemptId(request.answer);
    if (!id.ok()) return absl::DataLossError(std::string(id.status().message()));
    const absl::StatusOr<Target> target = FindClientAttempt(*id);
    if (!target.ok()) return target.status();
    return StartedAnswer(*target->experiment, *target->trial);
  }
  return Done{};
}

}  // namespace rung
