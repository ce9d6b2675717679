#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/parameters.h"
#include "scheduler/scheduler_state.h"

/// What workers say (service Workers), their reports apart.
namespace rung {
namespace {

constexpr int64_t kLastSeenWrittenEveryUs = 60'000'000;

std::string NamesJson(const std::vector<std::string>& names) {
  std::string json = "[";
  for (const std::string& name : names) {
    if (json.size() > 1) json += ',';
    json += JsonQuote(name);
  }
  json += ']';
  return json;
}

}  // namespace

void Scheduler::State::On(const WorkerConnected& e) {
  if (const std::optional<std::string> why = WhyRefused(e)) {
    messages_.emplace_back(ToWorker{e.session, RefuseWorker{*why}});
    return;
  }
  WorkerRecord& worker = workers_.Ensure(e.worker.name);
  // After a restart of the scheduler the incarnation is not known, so nothing is held against it.
  const bool new_incarnation =
      !worker.incarnation.empty() && worker.incarnation != e.worker.incarnation;
  worker.incarnation = e.worker.incarnation;
  workers_.Connect(worker, e.session);
  WorkerRow& row = worker.row;
  row.state = "connected";
  worker.may_return = false;
  row.host = e.worker.host;
  row.version = e.worker.version;
  row.milli_cpus = e.worker.total.milli_cpus;
  row.memory_bytes = e.worker.total.memory_bytes;
  row.gpus = e.worker.total.gpus;
  row.gpu_names = NamesJson(e.worker.gpu_names);
  if (row.first_seen.us == 0) row.first_seen = now_.wall;
  row.last_seen = worker.last_written = now_.wall;
  Touch(worker);
  leases_.Grant(row.name, now_.mono + config_.lease);
  for (auto& [id, experiment] : experiments_) {
    if (new_incarnation) experiment->start_failures.erase(row.name);
  }
  Log(EventRow{{},
               std::nullopt,
               std::nullopt,
               "worker_connected",
               fmt::format("worker {} connected", row.name),
               now_.wall});
  Reconcile(worker, e.held, new_incarnation);
  assign_work_ = true;
}

std::optional<std::string> Scheduler::State::WhyRefused(const WorkerConnected& e) {
  if (e.worker.name.empty() || e.worker.incarnation.empty()) {
    return "a worker needs a name and an incarnation";
  }
  const WorkerRecord* worker = workers_.Find(e.worker.name);
  if (worker != nullptr && worker->session && *worker->session != e.session &&
      worker->incarnation != e.worker.incarnation) {
    return fmt::format(
        "a worker of the name {} is connected from {}: give this one another name (--name), or end "
        "the other",
        e.worker.name, worker->row.host);
  }
  return std::nullopt;
}

void Scheduler::State::Reconcile(WorkerRecord& worker, const std::vector<HeldAttempt>& held,
                                 bool new_incarnation) {
  Welcome welcome;
  std::set<AttemptId> held_ids;
  std::vector<Target> kept;
  for (const HeldAttempt& h : held) {
    const Target target = FindAttempt(h.attempt);
    if (!RunsOn(target, worker) || !held_ids.insert(h.attempt).second) continue;
    welcome.keep.push_back(h.attempt);
    kept.push_back(target);
    const AttemptState state = target.trial->attempt->row.state;
    if (h.state == AttemptState::kRunning) MarkRunning(*target.experiment, *target.trial);
    if (h.state == AttemptState::kStarting && state == AttemptState::kAssigned) {
      target.experiment->SetAttemptState(*target.trial, AttemptState::kStarting);
      TouchAttempt(*target.trial);
    }
  }
  Send(worker.row.name, std::move(welcome));
  for (const Target& target : kept) {
    if (target.trial->attempt->row.state != AttemptState::kStopping) continue;
    Send(worker.row.name, StopCommand(*target.experiment, *target.trial));
  }
  for (auto& [id, experiment] : experiments_) {
    for (const TrialNumber number : std::set(experiment->live())) {
      TrialRecord& trial = experiment->At(number);
      if (trial.attempt->row.workers != worker.row.name) continue;
      if (held_ids.contains(trial.attempt->row.id)) continue;
      ReconcileMissing(worker, *experiment, trial, new_incarnation);
    }
  }
}

/// An attempt that should run on `worker`, which does not hold it: either its start never arrived,
/// or the processes are gone.
void Scheduler::State::ReconcileMissing(WorkerRecord& worker, ExperimentRecord& experiment,
                                        TrialRecord& trial, bool new_incarnation) {
  if (trial.attempt->row.state == AttemptState::kAssigned && !new_incarnation) {
    Send(worker.row.name, StartCommand(experiment, trial));
  } else {
    LoseAttempt(experiment, trial, fmt::format("worker {} came back without it", worker.row.name));
  }
}

void Scheduler::State::On(const WorkerDisconnected& e) {
  WorkerRecord* worker = workers_.FindSession(e.session);
  if (worker == nullptr) return;
  workers_.Disconnect(*worker);
  if (worker->row.state == "connected") worker->row.state = "disconnected";
  worker->last_written = worker->row.last_seen;
  Touch(*worker);
  assign_work_ = true;  // what waits for it says so
}

void Scheduler::State::On(const WorkerGoodbye& e) {
  WorkerRecord* worker = Heard(e.session);
  if (worker == nullptr) return;
  workers_.Disconnect(*worker);
  worker->row.state = "gone";
  worker->last_written = worker->row.last_seen;
  // A daemon that is started again goes on from its checkpoints, as after a broken connection.
  worker->may_return = true;
  Touch(*worker);
  const std::string why = fmt::format("worker {} was ended", worker->row.name);
  Log(EventRow{{}, std::nullopt, std::nullopt, "worker_gone", why, now_.wall});
  assign_work_ = true;
  LoseAttemptsOn(*worker, why);
}

void Scheduler::State::On(const WorkerHeartbeat& e) { Heard(e.session); }

WorkerRecord* Scheduler::State::Heard(SessionId session) {
  WorkerRecord* worker = workers_.FindSession(session);
  if (worker == nullptr) return nullptr;
  leases_.Grant(worker->row.name, now_.mono + config_.lease);
  worker->row.last_seen = now_.wall;
  if (now_.wall.us - worker->last_written.us >= kLastSeenWrittenEveryUs) {
    worker->last_written = now_.wall;
    Touch(*worker);
  }
  return worker;
}

void Scheduler::State::LoseWorker(const std::string& name) {
  WorkerRecord& worker = workers_.Ensure(name);
  assign_work_ = true;
  if (std::exchange(worker.may_return, false)) return;  // gone, and stays so
  const std::string why =
      fmt::format("worker {} was silent for {} ms", name, config_.lease.count());
  if (worker.session) Send(name, RefuseWorker{why + ": connect again"});
  workers_.Disconnect(worker);
  worker.row.state = "lost";
  Touch(worker);
  Log(EventRow{{}, std::nullopt, std::nullopt, "worker_lost", why, now_.wall});
  LoseAttemptsOn(worker, why);
}

void Scheduler::State::LoseAttemptsOn(const WorkerRecord& worker, const std::string& why) {
  for (auto& [id, experiment] : experiments_) {
    for (const TrialNumber number : std::set(experiment->live())) {
      TrialRecord& trial = experiment->At(number);
      if (trial.attempt->row.workers == worker.row.name) LoseAttempt(*experiment, trial, why);
    }
  }
}

void Scheduler::State::On(const AttemptStarted& e) {
  const WorkerRecord* worker = Heard(e.session);
  const Target target = FindAttempt(e.attempt);
  if (worker == nullptr || !RunsOn(target, *worker)) return;
  MarkRunning(*target.experiment, *target.trial);
}

void Scheduler::State::On(const CheckpointReported& e) {
  const WorkerRecord* worker = Heard(e.session);
  if (worker == nullptr) return;
  const std::string error = StoreCheckpoint(e, *worker);
  Send(worker->row.name, AcknowledgeCheckpoint{e.report_id, e.attempt, e.step, error});
}

/// The error for the worker; empty when the checkpoint is stored, now or before.
std::string Scheduler::State::StoreCheckpoint(const CheckpointReported& e,
                                              const WorkerRecord& worker) {
  const Target target = FindAttempt(e.attempt);
  if (!RunsOn(target, worker)) {
    return fmt::format("attempt {} is no longer current", ToString(e.attempt));
  }
  if (e.step < 1) return fmt::format("checkpoint step: must be at least 1, found {}", e.step);
  TrialRecord& trial = *target.trial;
  std::vector<CheckpointRow>& stored = trial.checkpoints;
  const auto at = std::ranges::lower_bound(
      stored, std::pair(e.attempt, e.step), {},
      [](const CheckpointRow& row) { return std::pair(row.attempt, row.step); });
  if (at != stored.end() && at->attempt == e.attempt && at->step == e.step) {
    if (at->path == e.path) return "";
    return fmt::format("attempt {} has a checkpoint of step {} already, at {}", ToString(e.attempt),
                       e.step, at->path);
  }
  const bool shared = !target.experiment->trial_template().checkpoint_root.empty();
  CheckpointRow row;
  row.attempt = e.attempt;
  row.step = e.step;
  row.path = e.path;
  row.place = shared ? "shared" : worker.row.name;
  row.bytes = e.bytes;
  row.time = now_.wall;
  stored.insert(at, row);
  Log(std::move(row));
  changed_.insert(e.attempt.trial.experiment);
  return "";
}

void Scheduler::State::On(const AttemptExited& e) {
  const WorkerRecord* worker = Heard(e.session);
  if (worker == nullptr) return;
  const Target target = FindAttempt(e.attempt);
  // An exit is acknowledged even of an attempt that is not known, or the worker would repeat it
  // for ever.
  Send(worker->row.name, AcknowledgeExit{e.attempt});
  if (!RunsOn(target, *worker)) return;
  ExperimentRecord& experiment = *target.experiment;
  TrialRecord& trial = *target.trial;
  AttemptRecord& attempt = *trial.attempt;
  for (int32_t rank = 0; rank < attempt.row.processes; ++rank) attempt.open.RankExited(rank);
  DrainSteps(experiment, trial);

  for (const auto& [rank, text] : e.stderr_tails) Log(LogTailRow{e.attempt, rank, text});
  if (e.cause == ExitCause::kLost) {  // its checkpoint is not what it was
    DropCheckpoint(trial);
    LoseAttempt(experiment, trial, e.message);
    return;
  }
  if (e.cause == ExitCause::kRefused) experiment.refused_by[worker->row.name] = e.message;
  if (e.cause == ExitCause::kCouldNotStart) BackOff(experiment, worker->row.name, e.message);
  const bool stopping = attempt.row.state == AttemptState::kStopping;
  EndAttempt(experiment, trial,
             {.state = AttemptState::kExited,
              .cause = stopping && e.cause == ExitCause::kCompleted ? ExitCause::kStopped : e.cause,
              .exit_code = e.exit_code,
              .message = e.message});
  AfterExit(experiment, trial, e.cause);
}

void Scheduler::State::Send(const std::string& worker, WorkerCommand command) {
  const WorkerRecord* record = workers_.Find(worker);
  // Without a session nothing is sent: on the next connect the whole state is compared.
  if (record == nullptr || !record->session) return;
  messages_.emplace_back(ToWorker{*record->session, std::move(command)});
}

bool Scheduler::State::RunsOn(const Target& target, const WorkerRecord& worker) const {
  return target.live() && target.trial->attempt->row.workers == worker.row.name;
}

}  // namespace rung
