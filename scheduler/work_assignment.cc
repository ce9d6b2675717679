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
    demands.push_back(DemandOf(*experiment, nullptr));
  }
  std::vector<WorkerOffer> offer = workers_.Offer();
  while (const std::optional<Work> work = NextWork(demands, offer)) {
    ExperimentRecord& experiment = *FindExperiment(work->experiment);
    TrialRecord& trial = experiment.At(work->trial);
    WorkDemand& demand = *std::ranges::find(demands, work->experiment, &WorkDemand::experiment);
    if (trial.row.state == TrialState::kPaused) {
      Promote(experiment, trial, demand.drain ? Grant::kDrain : Grant::kEarned);
    }
    if (trial.row.state == TrialState::kQueued && !trial.live()) {
      Assign(experiment, trial, offer[work->worker].name);
    }
    offer = workers_.Offer();
    QueueAhead(experiment);
    demand = DemandOf(experiment, nullptr);
  }
  Explain(demands, offer);
}

/// Lets the searcher's next trial wait for placement, unless another one does. A promoted trial
/// whose last attempt is not final waits for that alone.
void Scheduler::State::QueueAhead(ExperimentRecord& experiment) {
  const bool one_waits = std::ranges::any_of(
      experiment.queued(), [&](TrialNumber number) { return !experiment.At(number).live(); });
  if (one_waits || !experiment.HasNext()) return;
  const TrialRecord& trial = experiment.AddTrial(now_.wall);
  Touch(trial);
  LogEvent(trial, "trial_created", fmt::format("trial {} was created", ToString(trial.row.id)));
}

/// What `experiment` wants; `leaving`, if not null, is a paused trial whose resources are on offer.
WorkDemand Scheduler::State::DemandOf(ExperimentRecord& experiment,
                                      const TrialRecord* leaving) const {
  WorkDemand demand;
  demand.experiment = experiment.row.id;
  demand.priority = experiment.row.priority;
  demand.gang = experiment.gang();
  const auto running = static_cast<int64_t>(experiment.live().size()) - (leaving ? 1 : 0);
  demand.slots_in_use = running * demand.gang.Slots();
  const std::optional<int32_t> max_concurrent = experiment.spec.limits.max_concurrent;
  demand.at_max_concurrent = max_concurrent && running >= *max_concurrent;
  demand.passed_over = experiment.refused_by;
  for (const auto& [worker, failures] : experiment.start_failures) {
    if (!failures.passed_over_until) continue;
    demand.passed_over.emplace(
        worker, fmt::format("could not start it, and is tried again later: {}", failures.why));
  }
  for (const TrialNumber number : experiment.queued()) {
    const TrialRecord& trial = experiment.At(number);
    if (trial.live()) continue;
    const QueuedTrial queued{number, ResumeOf(experiment, trial).only_on};
    (trial.attempt ? demand.queued : demand.new_trials).push_back(queued);
  }
  AddPromotions(experiment, leaving, demand);
  return demand;
}

/// Adds the paused trials that may go on, as far as they can matter: gangs are equal, so of those
/// that need one worker the first is enough, and behind one that may go anywhere nobody else fits.
void Scheduler::State::AddPromotions(ExperimentRecord& experiment, const TrialRecord* leaving,
                                     WorkDemand& demand) const {
  const auto promotion_of = [&](TrialNumber number) {
    const TrialRecord& trial = experiment.At(number);
    // A trial that is just leaving would go on where it is, whatever checkpoints it has.
    if (&trial == leaving) return QueuedTrial{number, trial.attempt->row.workers};
    return QueuedTrial{number, ResumeOf(experiment, trial).only_on};
  };
  std::set<std::string> places;
  std::optional<TrialNumber> next = experiment.rule->NextPromotion(std::nullopt);
  for (; next; next = experiment.rule->NextPromotion(*next)) {
    const QueuedTrial promotion = promotion_of(*next);
    if (!promotion.only_on) {
      demand.promotions.push_back(promotion);
      break;
    }
    if (places.insert(*promotion.only_on).second) demand.promotions.push_back(promotion);
  }
  const std::optional<TrialNumber> drained = experiment.rule->NextDrain();
  demand.drain = drained && demand.promotions.empty() && IsDrainDue(experiment);
  if (demand.drain) demand.promotions.push_back(promotion_of(*drained));
}

/// Whether nothing is left from which a trial could complete but those that are paused.
bool Scheduler::State::IsDrainDue(ExperimentRecord& experiment) {
  return experiment.CountOf(TrialState::kRunning) == 0 && experiment.queued().empty() &&
         experiment.CountOf(TrialState::kCompleted) == 0 && !experiment.HasNext();
}

/// Whether what `trial`, which has just paused, would free goes to itself, and why: NextWork is
/// offered exactly that. Of ask/tell what a client frees is the answer to its next StartTrial.
std::optional<Grant> Scheduler::State::GrantOnArrival(ExperimentRecord& experiment,
                                                      const TrialRecord& trial) {
  if (experiment.row.state != ExperimentState::kActive) return std::nullopt;
  const WorkDemand own = DemandOf(experiment, &trial);
  const Grant grant = own.drain ? Grant::kDrain : Grant::kEarned;
  if (!experiment.spec.trial) {
    const bool first = !own.at_max_concurrent && own.queued.empty() && !own.promotions.empty() &&
                       own.promotions.front().number == trial.row.id.number;
    return first ? std::optional(grant) : std::nullopt;
  }
  std::vector<WorkDemand> demands{own};
  for (auto& [id, other] : experiments_) {
    const bool wants = other->row.state == ExperimentState::kActive && other->spec.trial;
    if (wants && id != experiment.row.id) demands.push_back(DemandOf(*other, nullptr));
  }
  const std::string& worker = trial.attempt->row.workers;
  const std::vector<WorkerOffer> offer{
      {worker, workers_.Find(worker)->total(), experiment.gang().Total()}};
  const std::optional<Work> work = NextWork(demands, offer);
  const bool itself =
      work && work->experiment == experiment.row.id && work->trial == trial.row.id.number;
  return itself ? std::optional(grant) : std::nullopt;
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
    for (const auto* trials : {&demand.queued, &demand.new_trials}) {
      for (const QueuedTrial& queued : *trials) {
        SetWaitingReason(experiment.At(queued.number), WhyWaiting(demand, queued, offer));
      }
    }
    for (const TrialNumber number : experiment.queued()) {
      TrialRecord& trial = experiment.At(number);
      if (trial.live()) SetWaitingReason(trial, "waiting: for its last attempt to end");
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
    gpu_s += trial.attempt->row.gpus * trial.attempt->HeldSeconds(now_.wall);
  }
  return gpu_s;
}

}  // namespace rung
