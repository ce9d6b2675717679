#pragma once

#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "storage/storage.h"

/// The database without a disk, for tests and the simulation.
namespace rung {

/// Key of the table `metrics`, in its order: a trial's curve is one range.
struct MetricKey {
  TrialId trial;
  Steps step = 0;
  int32_t attempt = 0;
  std::string name;
  auto operator<=>(const MetricKey&) const = default;
};

/// Every table as it was committed, by primary key.
struct MemoryTables {
  std::map<ExperimentId, ExperimentRow> experiments;
  std::map<TrialId, TrialRow> trials;
  std::map<AttemptId, AttemptRow> attempts;
  std::map<MetricKey, StoredMetric> metrics;
  std::map<std::pair<ExperimentId, int64_t>, DecisionRow> decisions;
  std::map<std::pair<AttemptId, Steps>, CheckpointRow> checkpoints;
  std::map<std::string, WorkerRow> workers;
  std::vector<EventRow> events;
  std::map<std::string, RequestRow> requests;
  std::map<std::pair<AttemptId, int32_t>, LogTailRow> log_tails;
};

/// Behaves as SqliteStorage does (one conformance suite runs both), but forgets with the process.
/// Pure. Copying one copies the data: what a restart after a crash would find.
class MemoryStorage final : public Storage {
 public:
  /// Errors: INTERNAL for a metric row whose key is stored already; nothing else fails.
  absl::Status Commit(const WriteBatch& batch) override;
  absl::StatusOr<Snapshot> Load() override;
  absl::StatusOr<std::vector<MetricRow>> LoadObjective(ExperimentId experiment) override;

  /// What was committed, final experiments and superseded rows included.
  const MemoryTables& tables() const { return tables_; }

 private:
  MemoryTables tables_;
};

}  // namespace rung
