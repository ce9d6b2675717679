#include "clients/cli/diagnosis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "clients/cli/table.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

constexpr size_t kTrialsLookedAt = 20;
constexpr size_t kNamesMax = 10;
constexpr size_t kNoteColumnsMax = 160;  // a refusal may quote all of PATH; `rung why` has it whole

// Why the last attempt was refused by a worker; empty where it was not.
std::string RefusalOf(const pb::Trial& trial) {
  if (trial.attempts().empty()) return "";
  const pb::Attempt& last = *trial.attempts().rbegin();
  return last.exit_cause() == pb::EXIT_CAUSE_REFUSED ? last.message() : "";
}

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

void RefusalNotes::AddTo(pb::WatchExperimentResponse& update, Client& client) {
  for (pb::Trial& trial : *update.mutable_active_trials()) {
    if (trial.state() != pb::TRIAL_STATE_QUEUED || trial.reason().empty()) continue;
    if (TrialText(trial) != trial_ || trial.reason() != reason_) {
      const auto whole = client.GetTrial(trial.experiment_id(), trial.trial_number());
      if (!whole.ok()) return;
      trial_ = TrialText(trial);
      reason_ = trial.reason();
      note_ = Cut(RefusalOf(*whole), kNoteColumnsMax);
    }
    if (!note_.empty()) trial.set_reason(fmt::format("{}: {}", reason_, note_));
    return;  // the first that waits speaks for all
  }
}

}  // namespace rung::cli
