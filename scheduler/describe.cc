#include <fmt/format.h>

#include "scheduler/scheduler_state.h"

/// The state as text, so that a test can compare a scheduler with one that was restored.
namespace rung {
namespace {

template <typename T>
std::string OrDash(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::string DescribeTrial(const TrialRecord& trial) {
  const TrialRow& row = trial.row;
  std::string text = fmt::format(
      "trial {} {} reason={} params={} bracket={} best={}@{} last={} furthest={} rows={} "
      "failures={} losses={}\n",
      ToString(row.id), ToString(row.state), row.reason, row.params, row.bracket,
      OrDash(row.best_value), OrDash(row.best_step), OrDash(row.last_step),
      OrDash(row.furthest_step), row.metric_rows, row.failures, row.losses);
  for (const auto& [step, value] : trial.objective) {
    text += fmt::format("  objective {}={}\n", step, value);
  }
  for (const CheckpointRow& checkpoint : trial.checkpoints) {
    text += fmt::format("  checkpoint {} step {} on {} at {}\n", ToString(checkpoint.attempt),
                        checkpoint.step, checkpoint.place, checkpoint.path);
  }
  if (!trial.attempt) return text;
  const AttemptRecord& attempt = *trial.attempt;
  text += fmt::format("  attempt {} {} on {} resume_step={} processes={}", attempt.row.id.attempt,
                      ToString(attempt.row.state), attempt.row.workers, attempt.row.resume_step,
                      attempt.row.processes);
  if (attempt.live()) {
    text +=
        fmt::format(" stopped_at={} told={} finished_at={} went_on={}", OrDash(attempt.stopped_at),
                    ToString(attempt.told), OrDash(attempt.finished_at),
                    attempt.went_on ? attempt.went_on->second : "-");
  }
  text += '\n';
  for (const auto& [step, values] : attempt.stored) {
    for (const auto& [name, value] : values) {
      text += fmt::format("  stored {} {}={}\n", step, name, value);
    }
  }
  return text;
}

}  // namespace

std::string Scheduler::State::Describe() const {
  std::string text = fmt::format("last experiment {}\n", ToString(last_experiment_id_));
  for (const auto& [id, experiment] : experiments_) {
    text += fmt::format(
        "experiment {} {} reason={} seq={} any_report={} gpu_s={:.3f} queued={} live={}",
        ToString(id), ToString(experiment->row.state), experiment->row.reason, experiment->last_seq,
        experiment->any_report, experiment->gpu_s_of_final_attempts, experiment->queued().size(),
        experiment->live().size());
    text +=
        fmt::format(" deadline={}\n",
                    experiment->deadline ? experiment->deadline->time_since_epoch().count() : -1);
    for (auto next = experiment->rule->NextPromotion(std::nullopt); next;
         next = experiment->rule->NextPromotion(*next)) {
      text += fmt::format("  has earned the next rung: {}\n", next->value);
    }
    if (const auto drained = experiment->rule->NextDrain()) {
      text += fmt::format("  would be drained first: {}\n", drained->value);
    }
    for (const auto& [worker, why] : experiment->refused_by) {
      text += fmt::format("  refused by {}: {}\n", worker, why);
    }
    for (const TrialRecord& trial : experiment->trials()) text += DescribeTrial(trial);
  }
  for (const auto& [name, worker] : workers_.all()) {
    text += fmt::format("worker {} {} total {}/{}/{} held {}/{}/{}\n", name,
                        worker.alive() ? "alive" : worker.row.state, worker.row.gpus,
                        worker.row.milli_cpus, worker.row.memory_bytes, worker.held.gpus,
                        worker.held.milli_cpus, worker.held.memory_bytes);
  }
  for (const auto& [id, request] : requests_.all()) {
    text += fmt::format("request {} {} {}\n", id, request.method, request.answer);
  }
  return text;
}

}  // namespace rung
