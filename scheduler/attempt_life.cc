#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/counter_random.h"
#include "scheduler/scheduler_state.h"

/// The lives of attempts, trials and experiments: the edges of the diagrams in core/trial.h and
/// core/experiment.h.
namespace rung {
namespace {

/// Failed trials after which an experiment that never stored a report is paused.
constexpr int64_t kNothingWorksAfter = 5;

/// How long a worker whose machine could not start an attempt is passed over by the experiment:
/// doubled with each further one in a row. After so many in a row it is passed over until its
/// daemon is started again; 100 of them last 16 hours.
constexpr std::chrono::milliseconds kStartBackOff{10'000};
constexpr std::chrono::milliseconds kStartBackOffMax{600'000};
constexpr int32_t kStartFailuresMax = 100;

/// RUNG_SEED: below 2^31, since many libraries take no more.
int64_t SeedOf(int64_t experiment_seed, TrialNumber trial) {
  CounterRandom random({.seed = experiment_seed, .trial = trial, .redraw = 0, .name = "rung.seed"});
  return static_cast<int64_t>(random.NextBelow(uint64_t{1} << 31));
}

}  // namespace

void Scheduler::State::Assign(ExperimentRecord& experiment, TrialRecord& trial,
                              const std::string& worker) {
  const Resume resume = ResumeOf(experiment, trial);
  const Resources total = experiment.gang().Total();
  AttemptRow row;
  row.id = {trial.row.id, trial.next_attempt()};
  row.workers = worker;
  row.resume_step = resume.step;
  row.processes = experiment.gang().processes;
  row.gpus = total.gpus;
  row.milli_cpus = total.milli_cpus;
  row.memory_bytes = total.memory_bytes;
  row.started = now_.wall;
  AttemptRecord attempt(std::move(row), experiment.trial_template().reduce);
  BeginAttempt(experiment, trial, std::move(attempt));
  workers_.Hold(worker, total);
  LogEvent(trial.attempt->row.id, "attempt_assigned",
           fmt::format("attempt {} was assigned to worker {} from step {}",
                       ToString(trial.attempt->row.id), worker, resume.step));
  Send(worker, StartCommand(experiment, trial));
}

void Scheduler::State::AssignToClient(ExperimentRecord& experiment, TrialRecord& trial,
                                      const StartTrial& e) {
  AttemptRow row;
  row.id = {trial.row.id, trial.next_attempt()};
  row.state = AttemptState::kRunning;
  row.owner = e.owner;
  // Clients keep their own checkpoints: a trial that its client gave back after a pause goes on
  // from its last report; one whose client failed or was lost begins anew.
  const bool given_back = trial.attempt && trial.attempt->row.exit_cause == ExitCause::kStopped;
  row.resume_step = given_back ? trial.row.last_step.value_or(0) : 0;
  row.started = now_.wall;
  row.lease_s = std::chrono::duration<double>(e.lease).count();
  AttemptRecord attempt(std::move(row), Reduce::kRank0);
  attempt.client_lease = e.lease;
  BeginAttempt(experiment, trial, std::move(attempt));
  RenewClientLease(trial);
  LogEvent(
      trial.attempt->row.id, "attempt_assigned",
      fmt::format("attempt {} was handed to client {}", ToString(trial.attempt->row.id), e.owner));
}

void Scheduler::State::BeginAttempt(ExperimentRecord& experiment, TrialRecord& trial,
                                    AttemptRecord attempt) {
  experiment.SetAttempt(trial, std::move(attempt));
  experiment.SetTrialState(trial, TrialState::kRunning, "");
  Touch(trial);
  TouchAttempt(trial);
}

/// The checkpoint from which the trial's attempt goes on; end() where it starts at step 0.
std::vector<CheckpointRow>::const_iterator Scheduler::State::ResumedFrom(const TrialRecord& trial) {
  const AttemptRow& attempt = trial.attempt->row;
  const auto newest = std::find_if(
      trial.checkpoints.rbegin(), trial.checkpoints.rend(), [&](const CheckpointRow& checkpoint) {
        const bool here = checkpoint.place == attempt.workers || checkpoint.place == "shared";
        return here && checkpoint.attempt < attempt.id && checkpoint.step == attempt.resume_step;
      });
  return newest == trial.checkpoints.rend() ? trial.checkpoints.end() : std::prev(newest.base());
}

/// The checkpoint is damaged or missing: the next attempt goes on from an older one, or from step
/// 0, and so cannot be lost by the same one again.
void Scheduler::State::DropCheckpoint(TrialRecord& trial) {
  const auto dropped = ResumedFrom(trial);
  if (dropped == trial.checkpoints.end()) return;
  CheckpointRow row = *dropped;
  trial.checkpoints.erase(dropped);
  row.state = "deleted";
  LogEvent(trial.attempt->row.id, "checkpoint_dropped",
           fmt::format("trial {} does not try its checkpoint of step {} again, at {}",
                       ToString(trial.row.id), row.step, row.path));
  Log(std::move(row));
}

StartAttempt Scheduler::State::StartCommand(const ExperimentRecord& experiment,
                                            const TrialRecord& trial) const {
  const AttemptRow& attempt = trial.attempt->row;
  StartAttempt start;
  start.attempt = attempt.id;
  start.experiment_name = experiment.row.name;
  start.params = trial.row.params;
  start.trial = experiment.trial_template();
  start.seed = SeedOf(experiment.row.seed, trial.row.id.number);
  start.resume_step = attempt.resume_step;
  start.max_step = experiment.rule->MaxStep();
  const auto resumed_from = ResumedFrom(trial);
  if (resumed_from != trial.checkpoints.end()) start.resume_from = resumed_from->path;
  return start;
}

StopAttempt Scheduler::State::StopCommand(const ExperimentRecord& experiment,
                                          const TrialRecord& trial) const {
  const TrialTemplate& trial_template = experiment.trial_template();
  StopAttempt stop;
  stop.attempt = trial.attempt->row.id;
  // A trial that was paused may meanwhile wait for its next attempt, or have ended at its
  // promotion.
  const bool cancelled = trial.row.state == TrialState::kCancelled;
  const bool paused = trial.attempt->told == Decision::kPause && !cancelled;
  stop.decision = paused ? Decision::kPause : Decision::kStop;
  stop.reason = paused ? "paused" : trial.row.reason;
  stop.at_once = cancelled || experiment.row.state == ExperimentState::kStopping;
  // A trial that reached its end may still evaluate and save, unless all is to end now.
  const bool may_finish = trial.row.state == TrialState::kCompleted && !stop.at_once;
  stop.grace = may_finish ? trial_template.finish_grace : trial_template.grace;
  return stop;
}

void Scheduler::State::MarkRunning(ExperimentRecord& experiment, TrialRecord& trial) {
  const AttemptState state = trial.attempt->row.state;
  if (state != AttemptState::kAssigned && state != AttemptState::kStarting) return;
  experiment.start_failures.erase(trial.attempt->row.workers);
  experiment.SetAttemptState(trial, AttemptState::kRunning);
  TouchAttempt(trial);
}

void Scheduler::State::EndAttempt(ExperimentRecord& experiment, TrialRecord& trial,
                                  const AttemptEnd& end) {
  RUNG_CHECK(IsFinal(end.state));
  experiment.SetAttemptState(trial, end.state);
  AttemptRow& row = trial.attempt->row;
  row.exit_cause = end.cause;
  row.exit_code = end.exit_code;
  row.message = end.message;
  row.ended = now_.wall;
  const double held_s = trial.attempt->HeldSeconds(now_.wall);
  row.gpu_s = row.gpus * held_s;
  row.cpu_s = static_cast<double>(row.milli_cpus) / 1000 * held_s;
  experiment.gpu_s_of_final_attempts += row.gpu_s;
  trial.attempt->open = OpenSteps(experiment.trial_template().reduce, row.processes);
  TouchAttempt(trial);
  if (trial.attempt->ask_tell()) {
    leases_.Release(row.id);
  } else {
    workers_.Release(row.workers, experiment.gang().Total());
  }
  assign_work_ = true;
  const bool lost = end.state == AttemptState::kLost;
  LogEvent(row.id, lost ? "attempt_lost" : "attempt_exited",
           fmt::format("attempt {} {}: {}{}{}", ToString(row.id), lost ? "was lost" : "exited",
                       ToString(end.cause), end.message.empty() ? "" : ", ", end.message));
}

void Scheduler::State::AfterExit(ExperimentRecord& experiment, TrialRecord& trial,
                                 ExitCause cause) {
  // What was decided before, the exit does not change: a stop, or a pause (and even a promotion).
  if (trial.row.state != TrialState::kRunning) return Settle(trial);
  Touch(trial);
  switch (cause) {
    case ExitCause::kCompleted:
      return EndTrial(experiment, trial, TrialState::kCompleted, "");
    case ExitCause::kFailed:
      return AfterFailure(experiment, trial);
    case ExitCause::kCouldNotStart:
    case ExitCause::kRefused:
      return experiment.SetTrialState(trial, TrialState::kQueued, "");
    case ExitCause::kStopped:  // nobody here asked for it: the worker itself was ended
    case ExitCause::kLost:
      return AfterLoss(experiment, trial);
  }
}

/// The machine of `worker` could not start an attempt. It would be free at once and take one trial
/// after the other, so the experiment passes it over for a while.
void Scheduler::State::BackOff(ExperimentRecord& experiment, const std::string& worker,
                               const std::string& why) {
  StartFailures& failures = experiment.start_failures[worker];
  failures.why = why;
  if (failures.passed_over_until) return;  // assigned before: of the same row
  ++failures.in_a_row;
  const int32_t doublings = std::min(failures.in_a_row - 1, 6);
  const std::chrono::milliseconds wait =
      std::min(kStartBackOff * (1 << doublings), kStartBackOffMax);
  failures.passed_over_until =
      failures.in_a_row < kStartFailuresMax ? now_.mono + wait : MonoTime::max();
}

/// Workers whose back-off has ended are tried again.
void Scheduler::State::EndBackOffs(ExperimentRecord& experiment) {
  for (auto& [worker, failures] : experiment.start_failures) {
    if (!failures.passed_over_until || *failures.passed_over_until > now_.mono) continue;
    failures.passed_over_until.reset();
    assign_work_ = true;
  }
}

void Scheduler::State::LoseAttempt(ExperimentRecord& experiment, TrialRecord& trial,
                                   const std::string& why) {
  EndAttempt(experiment, trial,
             {.state = AttemptState::kLost,
              .cause = ExitCause::kLost,
              .exit_code = std::nullopt,
              .message = why});
  AfterExit(experiment, trial, ExitCause::kLost);
}

void Scheduler::State::AfterFailure(ExperimentRecord& experiment, TrialRecord& trial) {
  ++trial.row.failures;
  if (trial.row.failures <= experiment.trial_template().max_failures) {
    return experiment.SetTrialState(trial, TrialState::kQueued, "");
  }
  EndTrial(experiment, trial, TrialState::kFailed, "max_failures");
  PauseIfHopeless(experiment);
}

void Scheduler::State::AfterLoss(ExperimentRecord& experiment, TrialRecord& trial) {
  ++trial.row.losses;
  if (trial.row.losses < experiment.trial_template().max_losses) {
    return experiment.SetTrialState(trial, TrialState::kQueued, "");
  }
  EndTrial(experiment, trial, TrialState::kFailed, "lost_repeatedly");
  PauseIfHopeless(experiment);
}

void Scheduler::State::StopNow(ExperimentRecord& experiment, TrialRecord& trial) {
  if (trial.attempt->row.state != AttemptState::kStopping) {
    experiment.SetAttemptState(trial, AttemptState::kStopping);
    TouchAttempt(trial);
    trial.attempt->open.StopWaiting();
    DrainSteps(experiment, trial);
  }
  StopAttempt stop = StopCommand(experiment, trial);
  stop.at_once = true;
  stop.grace = experiment.trial_template().grace;
  Send(trial.attempt->row.workers, std::move(stop));
}

/// After SetTrialState: the trial waits at `level`, and its resources are free once its processes
/// are gone.
void Scheduler::State::Pause(TrialRecord& trial, Steps level) {
  trial.row.reason = fmt::format("at level {}", level);
  Touch(trial);
  LogEvent(trial, "trial_paused",
           fmt::format("trial {} is paused at level {}", ToString(trial.row.id), level));
}

/// Gives a paused trial its next attempt, unless what it reported after its pause decides
/// otherwise.
void Scheduler::State::Promote(ExperimentRecord& experiment, TrialRecord& trial, Grant grant) {
  Verdict verdict = experiment.rule->Promote(trial.row.id.number, grant);
  LogEvent(trial, "trial_promoted",
           fmt::format("trial {} goes on from level {}: {}", ToString(trial.row.id),
                       verdict.records.front().level, verdict.records.front().reason));
  LogDecisions(experiment, trial, verdict.records);
  const std::optional<Steps> max_step = experiment.rule->MaxStep();
  // A step beyond R ends a trial even without the objective, of which the rule has not heard.
  const bool beyond_end = max_step && trial.row.last_step > max_step;
  if (verdict.decision == Decision::kContinue && beyond_end) {
    verdict.decision = Decision::kStop;
    verdict.reason = "max_t";
    verdict.trial_completed = true;
  }
  switch (verdict.decision) {
    case Decision::kContinue:
      experiment.SetTrialState(trial, TrialState::kQueued, "");
      return Touch(trial);
    case Decision::kPause:
      return Pause(trial, verdict.records.back().level);
    case Decision::kStop:
      break;
  }
  if (verdict.trial_completed) {
    // What it reported after that step counts no more than after any other end.
    trial.attempt->finished_at = trial.attempt->FirstStepAtEnd(experiment.spec, *max_step);
    const Steps end = trial.attempt->finished_at.value_or(*max_step);
    trial.SupersedeAfter(end, experiment.spec, max_step);
  }
  EndTrial(experiment, trial,
           verdict.trial_completed ? TrialState::kCompleted : TrialState::kStopped, verdict.reason);
}

void Scheduler::State::EndTrial(ExperimentRecord& experiment, TrialRecord& trial, TrialState state,
                                const std::string& reason) {
  RUNG_CHECK(IsFinal(state));
  experiment.SetTrialState(trial, state, reason);
  experiment.rule->OnTrialEnded(trial.row.id.number, state);
  trial.row.ended = now_.wall;
  Touch(trial);
  LogEvent(trial, "trial_ended",
           fmt::format("trial {} is {}{}{}", ToString(trial.row.id), ToString(state),
                       reason.empty() ? "" : ": ", reason));
  assign_work_ = true;
  Settle(trial);
}

/// Frees what only further reports need.
void Scheduler::State::Settle(TrialRecord& trial) {
  if (!IsFinal(trial.row.state) || trial.live()) return;
  trial.objective.clear();
  if (trial.attempt) trial.attempt->stored.clear();
}

void Scheduler::State::PauseIfHopeless(ExperimentRecord& experiment) {
  if (experiment.row.state != ExperimentState::kActive) return;
  const int64_t failed = experiment.CountOf(TrialState::kFailed);
  const std::optional<int32_t> limit = experiment.spec.limits.max_failed_trials;
  std::string reason;
  if (!experiment.any_report && failed >= kNothingWorksAfter) reason = "nothing_works";
  if (limit && failed >= *limit) reason = "max_failed_trials";
  if (reason.empty()) return;
  experiment.row.state = ExperimentState::kPaused;
  experiment.row.reason = reason;
  Touch(experiment);
  LogEvent(experiment, "experiment_paused",
           fmt::format("experiment {} is paused after {} failed trials: {}",
                       ToString(experiment.row.id), failed, reason));
}

void Scheduler::State::BeginStopping(ExperimentRecord& experiment, const std::string& reason) {
  experiment.row.state = ExperimentState::kStopping;
  experiment.row.reason = reason;
  Touch(experiment);
  LogEvent(experiment, "experiment_stopping",
           fmt::format("experiment {} is being stopped: {}", ToString(experiment.row.id), reason));
  for (const auto* waiting : {&experiment.queued(), &experiment.paused()}) {
    for (const TrialNumber number : std::set(*waiting)) {
      EndTrial(experiment, experiment.At(number), TrialState::kCancelled, reason);
    }
  }
  for (const TrialNumber number : std::set(experiment.live())) {
    TrialRecord& trial = experiment.At(number);
    if (!IsFinal(trial.row.state)) EndTrial(experiment, trial, TrialState::kCancelled, reason);
    StopNow(experiment, trial);
  }
}

/// Ends an experiment of which nothing runs or can come: paused trials wait until none of them can
/// go on. One whose trials all failed, or were stopped before any completed, has failed.
void Scheduler::State::EndIfDone(ExperimentRecord& experiment) {
  if (!experiment.live().empty()) return;
  ExperimentState state = ExperimentState::kStopped;
  std::string reason = experiment.row.reason;
  if (experiment.row.state != ExperimentState::kStopping) {
    if (!experiment.queued().empty() || experiment.HasNext()) return;
    const bool completed = experiment.CountOf(TrialState::kCompleted) > 0;
    if (experiment.rule->NextPromotion(std::nullopt)) return;
    if (!completed && experiment.rule->NextDrain()) return;
    for (const TrialNumber number : std::set(experiment.paused())) {
      EndTrial(experiment, experiment.At(number), TrialState::kStopped, "not_promoted");
    }
    state = completed ? ExperimentState::kCompleted : ExperimentState::kFailed;
    reason = completed ? experiment.searcher->ExhaustedReason() : "no_trial_completed";
  }
  experiment.row.state = state;
  experiment.row.reason = reason;
  experiment.row.ended = now_.wall;
  Touch(experiment);
  LogEvent(
      experiment, "experiment_ended",
      fmt::format("experiment {} is {}: {}", ToString(experiment.row.id), ToString(state), reason));
}

}  // namespace rung
