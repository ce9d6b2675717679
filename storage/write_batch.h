#pragma once

#include <variant>
#include <vector>

#include "storage/rows.h"

/// A change is a value before it is a write: Step() appends, the loop commits.
namespace rung {

/// Deletes request ids older than this.
struct ForgetRequests {
  WallTime before;
};

using Write =
    std::variant<ExperimentRow, TrialRow, AttemptRow, MetricRow, SupersedeMetrics, DecisionRow,
                 CheckpointRow, WorkerRow, EventRow, RequestRow, LogTailRow, ForgetRequests>;

/// Writes in order; later ones see earlier ones. One batch is one transaction.
struct WriteBatch {
  std::vector<Write> writes;

  void Add(Write write) { writes.push_back(std::move(write)); }
  bool empty() const { return writes.empty(); }
};

}  // namespace rung
