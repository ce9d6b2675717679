#include "storage/memory_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <variant>

namespace rung {
namespace {

MetricKey KeyOf(const MetricRow& row) {
  return {row.attempt.trial, row.step, row.attempt.attempt, row.name};
}

MetricKey FirstKey(TrialId trial) {
  return {trial, std::numeric_limits<Steps>::min(), std::numeric_limits<int32_t>::min(), ""};
}

/// Applies one write after another; the batch was checked before.
struct Apply {
  MemoryTables& tables;

  void operator()(const ExperimentRow& row) { tables.experiments[row.id] = row; }
  void operator()(const TrialRow& row) { tables.trials[row.id] = row; }
  void operator()(const AttemptRow& row) { tables.attempts[row.id] = row; }
  void operator()(const MetricRow& row) { tables.metrics[KeyOf(row)] = {row, false}; }
  void operator()(const SupersedeMetrics& write) {
    const TrialId trial = write.attempt.trial;
    for (auto it = tables.metrics.lower_bound(FirstKey(trial));
         it != tables.metrics.end() && it->first.trial == trial; ++it) {
      const MetricKey& key = it->first;
      if (key.step > write.after_step && key.attempt < write.attempt.attempt) {
        it->second.superseded = true;
      }
    }
  }
  void operator()(const DecisionRow& row) { tables.decisions[{row.experiment, row.seq}] = row; }
  void operator()(const CheckpointRow& row) { tables.checkpoints[{row.attempt, row.step}] = row; }
  void operator()(const WorkerRow& row) { tables.workers[row.name] = row; }
  void operator()(const EventRow& row) { tables.events.push_back(row); }
  void operator()(const RequestRow& row) { tables.requests[row.request_id] = row; }
  void operator()(const LogTailRow& row) { tables.log_tails[{row.attempt, row.rank}] = row; }
  void operator()(const ForgetRequests& write) {
    std::erase_if(tables.requests,
                  [&](const auto& entry) { return entry.second.time < write.before; });
  }
};

absl::Status CheckMetricsAreNew(const MemoryTables& tables, const WriteBatch& batch) {
  std::set<MetricKey> seen;
  for (const Write& write : batch.writes) {
    const auto* row = std::get_if<MetricRow>(&write);
    if (row == nullptr) continue;
    if (tables.metrics.contains(KeyOf(*row)) || !seen.insert(KeyOf(*row)).second) {
      return absl::InternalError(
          fmt::format("metric '{}' of attempt {} at step {} is stored already", row->name,
                      ToString(row->attempt), row->step));
    }
  }
  return absl::OkStatus();
}

/// Drops all but the last kRecentMetricSteps steps from rows that are in the order of steps.
void KeepRecentSteps(std::vector<MetricRow>& rows) {
  size_t steps = 0;
  for (size_t i = rows.size(); i > 0; --i) {
    if (i == rows.size() || rows[i].step != rows[i - 1].step) ++steps;
    if (steps > kRecentMetricSteps) {
      rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
}

/// Whether `trial` may still report: it is not final, or one of its attempts is not.
bool MayReport(const MemoryTables& tables, const TrialRow& trial) {
  if (!IsFinal(trial.state)) return true;
  for (auto it = tables.attempts.lower_bound({trial.id, 0});
       it != tables.attempts.end() && it->first.trial == trial.id; ++it) {
    if (!IsFinal(it->second.state)) return true;
  }
  return false;
}

/// Adds the metrics that `snapshot` keeps of a trial that may still report.
void AddMetrics(const MemoryTables& tables, TrialId trial, ExperimentSnapshot& snapshot) {
  const auto begin = tables.metrics.lower_bound(FirstKey(trial));
  const auto end = std::find_if(begin, tables.metrics.end(),
                                [&](const auto& entry) { return entry.first.trial != trial; });
  int32_t newest = std::numeric_limits<int32_t>::min();
  for (auto it = begin; it != end; ++it) newest = std::max(newest, it->first.attempt);

  std::vector<MetricRow> recent;
  for (auto it = begin; it != end; ++it) {
    const StoredMetric& metric = it->second;
    if (it->first.attempt == newest) recent.push_back(metric.row);
    if (!metric.superseded && metric.row.name == snapshot.experiment.metric) {
      snapshot.objective_metrics.push_back(metric.row);
    }
  }
  KeepRecentSteps(recent);
  snapshot.recent_metrics.insert(snapshot.recent_metrics.end(), recent.begin(), recent.end());
}

ExperimentSnapshot LoadExperiment(const MemoryTables& tables, const ExperimentRow& row) {
  ExperimentSnapshot snapshot;
  snapshot.experiment = row;
  for (const auto& [id, trial] : tables.trials) {
    if (id.experiment != row.id) continue;
    snapshot.trials.push_back(trial);
    if (MayReport(tables, trial)) AddMetrics(tables, id, snapshot);
  }
  for (const auto& [id, attempt] : tables.attempts) {
    if (id.trial.experiment == row.id) snapshot.attempts.push_back(attempt);
  }
  for (const auto& [key, decision] : tables.decisions) {
    if (key.first == row.id) snapshot.decisions.push_back(decision);
  }
  for (const auto& [key, checkpoint] : tables.checkpoints) {
    if (key.first.trial.experiment == row.id && checkpoint.state == "stored") {
      snapshot.checkpoints.push_back(checkpoint);
    }
  }
  return snapshot;
}

}  // namespace

absl::Status MemoryStorage::Commit(const WriteBatch& batch) {
  if (absl::Status status = CheckMetricsAreNew(tables_, batch); !status.ok()) return status;
  for (const Write& write : batch.writes) std::visit(Apply{tables_}, write);
  return absl::OkStatus();
}

absl::StatusOr<Snapshot> MemoryStorage::Load() {
  Snapshot snapshot;
  for (const auto& [id, row] : tables_.experiments) {
    snapshot.last_experiment_id = id;
    if (!IsFinal(row.state)) snapshot.experiments.push_back(LoadExperiment(tables_, row));
  }
  for (const auto& [name, row] : tables_.workers) snapshot.workers.push_back(row);
  for (const auto& [id, row] : tables_.requests) snapshot.requests.push_back(row);
  std::ranges::stable_sort(snapshot.requests, {}, &RequestRow::time);
  return snapshot;
}

absl::StatusOr<std::vector<MetricRow>> MemoryStorage::LoadObjective(ExperimentId experiment) {
  std::vector<MetricRow> rows;
  const auto found = tables_.experiments.find(experiment);
  if (found == tables_.experiments.end()) return rows;
  for (auto it = tables_.metrics.lower_bound(FirstKey({experiment, {0}}));
       it != tables_.metrics.end() && it->first.trial.experiment == experiment; ++it) {
    if (it->first.name == found->second.metric) rows.push_back(it->second.row);
  }
  std::ranges::stable_sort(rows, {}, &MetricRow::attempt);  // by step already
  return rows;
}

}  // namespace rung
