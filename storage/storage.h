#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <vector>

#include "storage/snapshot.h"
#include "storage/write_batch.h"

/// The only door to what survives a crash.
namespace rung {

/// An implementation guarantees: Commit is all or nothing; after it returned OK its writes survive
/// kill -9 and power loss and a later Load sees them; Load sees every committed batch and nothing
/// else. One thread uses an object.
class Storage {
 public:
  virtual ~Storage() = default;

  /// Errors: RESOURCE_EXHAUSTED (disk full), UNAVAILABLE (try again), DATA_LOSS (corruption:
  /// final).
  virtual absl::Status Commit(const WriteBatch& batch) = 0;
  virtual absl::StatusOr<Snapshot> Load() = 0;
  /// Every stored row of the experiment's objective, superseded ones included, by (trial, attempt,
  /// step): what a stopping rule that needs the history is rebuilt from.
  virtual absl::StatusOr<std::vector<MetricRow>> LoadObjective(ExperimentId experiment) = 0;
};

}  // namespace rung
