#include "scheduler/scheduler.h"

#include <utility>
#include <variant>

#include "core/check.h"
#include "scheduler/scheduler_state.h"

namespace rung {

Scheduler::Scheduler(SchedulerConfig config) : state_(std::make_unique<State>(config)) {}
Scheduler::~Scheduler() = default;
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;

absl::Status Scheduler::Restore(const Snapshot& snapshot, Now now, const SpecReader& parse,
                                const ObjectiveReader& objective) {
  return state_->Restore(snapshot, now, parse, objective);
}

const std::map<ExperimentId, std::string>& Scheduler::not_loaded() const {
  return state_->not_loaded();
}

Output Scheduler::Step(const Event& event, Now now) { return state_->Step(event, now); }

std::string Scheduler::Describe() const { return state_->Describe(); }

Output Scheduler::State::Step(const Event& event, Now now) {
  now_ = now;
  std::visit([&](const auto& e) { On(e); }, event);
  if (assign_work_) AssignWork();
  for (const ExperimentId id : std::set(changed_)) EndIfDone(*FindExperiment(id));
  return TakeOutput();
}

void Scheduler::State::On(const Tick&) {
  for (const LeaseHolder& holder : leases_.TakeExpired(now_.mono)) {
    if (const auto* worker = std::get_if<std::string>(&holder)) {
      LoseWorker(*worker);
    } else {
      const Target target = FindAttempt(std::get<AttemptId>(holder));
      RUNG_CHECK(target.live());  // a lease is released with its attempt
      LoseAttempt(*target.experiment, *target.trial,
                  "its client was silent until the lease ran out");
    }
  }
  for (auto& [id, experiment] : experiments_) {
    if (experiment->row.state == ExperimentState::kStopping) continue;
    EndBackOffs(*experiment);
    const std::optional<double> gpu_hours = experiment->spec.limits.gpu_hours;
    if (experiment->deadline && *experiment->deadline <= now_.mono) {
      BeginStopping(*experiment, "deadline");
    } else if (gpu_hours && GpuSecondsOf(*experiment) >= *gpu_hours * 3600) {
      BeginStopping(*experiment, "gpu_hours");
    }
  }
  if (!forget_requests_at_ || *forget_requests_at_ <= now_.mono) {
    forget_requests_at_ = now_.mono + std::chrono::hours(1);
    const auto kept = std::chrono::microseconds(config_.request_ids_kept);
    const WallTime before{now_.wall.us - kept.count()};
    if (requests_.Forget(before)) Log(ForgetRequests{before});
  }
}

Output Scheduler::State::TakeOutput() {
  Output out;
  // Parents before children, so that the rows may refer to each other.
  for (const ExperimentId id : touched_experiments_) out.writes.Add(FindExperiment(id)->row);
  for (const TrialId id : touched_trials_) {
    out.writes.Add(FindExperiment(id.experiment)->At(id.number).row);
  }
  for (auto& [id, row] : touched_attempts_) out.writes.Add(std::move(row));
  for (const std::string& name : touched_workers_) out.writes.Add(workers_.Find(name)->row);
  for (Write& write : log_) out.writes.Add(std::move(write));
  out.messages = std::move(messages_);
  for (const ExperimentId id : changed_) {
    out.messages.emplace_back(ExperimentChanged{id});
    if (IsFinal(FindExperiment(id)->row.state)) experiments_.erase(id);
  }
  messages_.clear();
  log_.clear();
  changed_.clear();
  touched_experiments_.clear();
  touched_trials_.clear();
  touched_attempts_.clear();
  touched_workers_.clear();
  return out;
}

ExperimentRecord* Scheduler::State::FindExperiment(ExperimentId id) {
  const auto it = experiments_.find(id);
  return it == experiments_.end() ? nullptr : it->second.get();
}

Scheduler::State::Target Scheduler::State::FindAttempt(AttemptId id) {
  ExperimentRecord* experiment = FindExperiment(id.trial.experiment);
  TrialRecord* trial = experiment == nullptr ? nullptr : experiment->Find(id.trial.number);
  if (trial == nullptr || !trial->attempt || trial->attempt->row.id != id) return {};
  return {experiment, trial};
}

void Scheduler::State::Touch(const ExperimentRecord& experiment) {
  touched_experiments_.insert(experiment.row.id);
  changed_.insert(experiment.row.id);
}

void Scheduler::State::Touch(const TrialRecord& trial) {
  touched_trials_.insert(trial.row.id);
  changed_.insert(trial.row.id.experiment);
}

void Scheduler::State::TouchAttempt(const TrialRecord& trial) {
  touched_attempts_[trial.attempt->row.id] = trial.attempt->row;
  changed_.insert(trial.row.id.experiment);
}

void Scheduler::State::Touch(const WorkerRecord& worker) {
  touched_workers_.insert(worker.row.name);
}

void Scheduler::State::LogEvent(const ExperimentRecord& experiment, std::string kind,
                                std::string message) {
  Log(EventRow{experiment.row.id, std::nullopt, std::nullopt, std::move(kind), std::move(message),
               now_.wall});
}

void Scheduler::State::LogEvent(const TrialRecord& trial, std::string kind, std::string message) {
  Log(EventRow{trial.row.id.experiment, trial.row.id.number, std::nullopt, std::move(kind),
               std::move(message), now_.wall});
}

void Scheduler::State::LogEvent(AttemptId attempt, std::string kind, std::string message) {
  Log(EventRow{attempt.trial.experiment, attempt.trial.number, attempt.attempt, std::move(kind),
               std::move(message), now_.wall});
}

}  // namespace rung
