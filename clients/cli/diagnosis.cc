#include "clients/cli/diagnosis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "clients/cli/words.h"

namespace rung::cli {
namespace {

constexpr int kTrialsLookedAt = 20;
constexpr size_t kNamesMax = 10;

}  // namespace

std::string WhyNoBest(const pb::Experiment& experiment, Client& client) {
  if (experiment.has_best() && experiment.best().has_best_value()) return "";
  pb::ListTrialsRequest request;
  request.set_experiment_id(experiment.id());
  const auto trials = client.ListTrials(request, kTrialsLookedAt);
  if (!trials.ok()) return "";
  std::string silent;
  for (const pb::Trial& trial : *trials) {
    if (trial.state() == pb::TRIAL_STATE_COMPLETED && silent.empty()) silent = TrialText(trial);
    if (!trial.has_last_step()) continue;
    pb::ListMetricsRequest of_trial;
    of_trial.set_experiment_id(experiment.id());
    of_trial.set_trial_number(trial.trial_number());
    std::set<std::string> names;
    const absl::Status listed = client.ForEachMetric(of_trial, [&](const pb::Metric& metric) {
      if (names.size() < kNamesMax) names.insert(metric.name());
    });
    if (!listed.ok() || names.empty()) return "";
    return fmt::format("trial {} reported {}{}", TrialText(trial), fmt::join(names, ", "),
                       names.contains(experiment.metric()) ? ", but no finite value of it" : "");
  }
  return silent.empty() ? "" : fmt::format("trial {} ended without a report", silent);
}

std::string WhyAllWorkersRefuse(const pb::WatchExperimentResponse& update, Client& client) {
  const pb::Experiment& experiment = update.experiment();
  if (experiment.state() != pb::EXPERIMENT_STATE_ACTIVE || experiment.trials().running() > 0) {
    return "";
  }
  std::set<std::string> refused_by;
  std::string text;
  for (int i = 0; i < update.active_trials_size() && i < kTrialsLookedAt; ++i) {
    const pb::Trial& trial = update.active_trials(i);
    const auto whole = client.GetTrial(trial.experiment_id(), trial.trial_number());
    if (!whole.ok()) return "";
    for (const pb::Attempt& attempt : whole->attempts()) {
      if (attempt.exit_cause() != pb::EXIT_CAUSE_REFUSED) continue;
      if (!refused_by.insert(attempt.workers()).second) continue;
      text += fmt::format("{}worker {} refused it: {}", text.empty() ? "" : "; ", attempt.workers(),
                          attempt.message());
    }
  }
  if (refused_by.empty()) return "";
  const auto workers = client.ListWorkers();
  if (!workers.ok()) return "";
  bool any_connected = false;
  for (const pb::Worker& worker : *workers) {
    if (worker.state() != "connected") continue;
    if (!refused_by.contains(worker.name())) return "";
    any_connected = true;
  }
  return any_connected ? text : "";
}

}  // namespace rung::cli
