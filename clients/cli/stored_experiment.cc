#include "clients/cli/stored_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "clients/cli/words.h"

namespace rung::cli {
namespace {

DecisionRecord ToDecisionRecord(const pb::DecisionRow& row) {
  return {.bracket = row.bracket(),
          .level = row.level(),
          .trial = {row.trial_number()},
          .step = row.step(),
          .value = row.value(),
          .n_before = row.n_before(),
          .entries = row.entries(),
          .rank = row.has_rank() ? std::optional(row.rank()) : std::nullopt,
          .cutoff = row.has_cutoff() ? std::optional(row.cutoff()) : std::nullopt,
          .rule = row.rule(),
          .decision = row.decision(),
          .reason = row.reason()};
}

/// The words of both enums are the same.
std::optional<TrialState> StateOf(const pb::Trial& trial) {
  return ParseTrialState(Word(trial.state()));
}

CurveEnd EndOf(const pb::Trial& trial) {
  if (trial.state() == pb::TRIAL_STATE_FAILED) return CurveEnd::kFailed;
  const bool by_itself = trial.state() == pb::TRIAL_STATE_COMPLETED && trial.reason() != "max_t";
  return by_itself ? CurveEnd::kCompleted : CurveEnd::kCut;
}

}  // namespace

StoredRecord StoredExperiment::Record() const {
  StoredRecord record;
  for (const pb::Metric& m : objective) {
    record.reports.push_back({m.attempt(), {{m.trial_number()}, m.step(), m.value()}, m.time_us()});
  }
  for (const pb::DecisionRow& row : decisions) {
    record.decisions.push_back({row.attempt(), ToDecisionRecord(row), row.time_us()});
  }
  for (const auto& [number, trial] : trials) {
    const std::optional<TrialState> state = StateOf(trial);
    if (trial.has_ended_us() && state) {
      record.ends.push_back({{number}, *state, trial.ended_us()});
    }
  }
  return record;
}

std::vector<RecordedCurve> StoredExperiment::Curves() const {
  std::map<int32_t, RecordedCurve> curves;
  for (const auto& [number, trial] : trials) {
    curves[number] = {.trial = {number}, .points = {}, .end = EndOf(trial)};
  }
  for (const pb::Metric& m : objective) {
    if (m.superseded()) continue;
    curves[m.trial_number()].points.push_back({m.step(), m.value(), m.time_us()});
  }
  std::vector<RecordedCurve> sorted;
  for (auto& [number, curve] : curves) {
    curve.trial = {number};
    std::ranges::sort(curve.points, {}, &CurvePoint::step);
    sorted.push_back(std::move(curve));
  }
  return sorted;
}

absl::StatusOr<StoredExperiment> LoadStoredExperiment(int64_t experiment_id, Client& client) {
  StoredExperiment stored;
  auto experiment = client.GetExperiment(experiment_id);
  if (!experiment.ok()) return experiment.status();
  if (!IsFinal(experiment->state())) {
    return absl::FailedPreconditionError(
        fmt::format("experiment {} is {}: it can be replayed once it has ended", experiment_id,
                    Word(experiment->state())));
  }
  stored.experiment = *std::move(experiment);
  pb::ListTrialsRequest list;
  list.set_experiment_id(experiment_id);
  list.set_order(pb::TRIAL_ORDER_NUMBER);
  auto trials = client.ListTrials(list, 0);
  if (!trials.ok()) return trials.status();
  for (pb::Trial& trial : *trials) stored.trials[trial.trial_number()] = std::move(trial);
  pb::ListMetricsRequest metrics;
  metrics.set_experiment_id(experiment_id);
  metrics.set_name(stored.experiment.metric());
  metrics.set_include_superseded(true);
  const absl::Status listed = client.ForEachMetric(
      metrics, [&](const pb::Metric& metric) { stored.objective.push_back(metric); });
  if (!listed.ok()) return listed;
  pb::ListDecisionsRequest rows;
  rows.set_experiment_id(experiment_id);
  auto decisions = client.ListDecisions(rows);
  if (!decisions.ok()) return decisions.status();
  stored.decisions = *std::move(decisions);
  return stored;
}

}  // namespace rung::cli
