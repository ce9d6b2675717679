#include <fmt/format.h>

#include <algorithm>

#include "scheduler/next_work.h"
#include "scheduler/scheduler_state.h"

/// From free resources to attempts, and from what is missing to a reason.
namespace rung {

void Scheduler::State::AssignWork() {
  assign_work_ = false;
  std::vector<WorkDemand> demands;
  for (auto& [id, experiment] : experiments_) {
    if (experiment->row.state != ExperimentState::kActive || !experiment->spec.trial) continue;
    QueueAhead(*experiment);
    demands.push_back(DemandOf(*experiment));
  }
  std::vector<WorkerOffer> offer = workers_.Offer();
  while (const std::optional<Work> work = NextWork(demands, offer)) {
    ExperimentRecord& experiment = *FindExperiment(work->experiment);
    Assign(experiment, experiment.At(work->trial), offer[work->worker].name);
    offer = workers_.Offer();
    QueueAhead(experiment);
    *std::ranges::find(demands, work->experiment, &WorkDemand::experiment) = DemandOf(experiment);
  }
  Explain(demands, offer);
}

/// Lets the searcher's next trial wait for placement, unless another one does.
void Scheduler::State::QueueAhead(ExperimentRecord& experiment) {
  if (!experiment.queued().empty() || !experiment.HasNext()) return;
  const TrialRecord& trial = experiment.AddTrial(now_.wall);
  Touch(trial);
  LogEvent(trial, "trial_created", fmt::format("trial {} was created", ToString(trial.row.id)));
}

WorkDemand Scheduler::State::DemandOf(const ExperimentRecord& experiment) const {
  WorkDemand demand;
  demand.experiment = experiment.row.id;
  demand.priority = experiment.row.priority;
  demand.gang = experiment.gang();
  const auto running = static_cast<int64_t>(experiment.live().size());
  demand.slots_in_use = running * demand.gang.Slots();
  const std::optional<int32_t> max_concurrent = experiment.spec.limits.max_concurrent;
  demand.at_max_concurrent = max_concurrent && running >= *max_concurrent;
  for (const auto& [worker, why] : experiment.refused_by) demand.passed_over.insert(worker);
  for (const TrialNumber number : experiment.queued()) {
    const TrialRecord& trial = experiment.trials()[static_cast<size_t>(number.value)];
    demand.queued.push_back({number, ResumeOf(experiment, trial).only_on});
  }
  return demand;
}

/// The newest checkpoint that can still be reached: a shared one, or that of a worker whose lease
/// runs, which took no exception to the experiment and is large enough. The trial waits for such a
/// worker even while it is busy. Checkpoints of a lost worker are passed over (it may never come
/// back), so that after a loss the trial goes on from an older one or from step 0.
Scheduler::State::Resume Scheduler::State::ResumeOf(const ExperimentRecord& experiment,
                                                    const TrialRecord& trial) const {
  if (!experiment.trial_template().resumable) return {};
  for (auto it = trial.checkpoints.rbegin(); it != trial.checkpoints.rend(); ++it) {
    if (it->place == "shared") return {it->step, it->path, std::nullopt};
    const WorkerRecord* worker = workers_.Find(it->place);
    const bool reachable = worker != nullptr && worker->alive() &&
                           !experiment.refused_by.contains(it->place) &&
                           Fits(experiment.gang().Total(), worker->total());
    if (reachable) return {it->step, it->path, it->place};
  }
  return {};
}

void Scheduler::State::Explain(const std::vector<WorkDemand>& demands,
                               const std::vector<WorkerOffer>& offer) {
  for (const WorkDemand& demand : demands) {
    ExperimentRecord& experiment = *FindExperiment(demand.experiment);
    for (const QueuedTrial& queued : demand.queued) {
      SetWaitingReason(experiment.At(queued.number), WhyWaiting(demand, queued, offer));
    }
  }
  for (auto& [id, experiment] : experiments_) {
    const bool paused = experiment->row.state == ExperimentState::kPaused;
    if (!paused && experiment->spec.trial) continue;
    for (const TrialNumber number : experiment->queued()) {
      SetWaitingReason(
          experiment->At(number),
          paused ? fmt::format("waiting: its experiment is paused ({})", experiment->row.reason)
                 : "waiting: for a client to ask for it");
    }
  }
}

void Scheduler::State::SetWaitingReason(TrialRecord& trial, const std::string& reason) {
  if (trial.row.reason == reason) return;
  trial.row.reason = reason;
  Touch(trial);
}

double Scheduler::State::GpuSecondsOf(const ExperimentRecord& experiment) const {
  double gpu_s = experiment.gpu_s_of_final_attempts;
  for (const TrialNumber number : experiment.live()) {
    const TrialRecord& trial = experiment.trials()[static_cast<size_t>(number.value)];
    const std::chrono::duration<double> held = now_.mono - trial.attempt->assigned;
    gpu_s += trial.attempt->row.gpus * held.count();
  }
  return gpu_s;
}

}  // namespace rung
