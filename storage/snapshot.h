#pragma once

#include <cstddef>
#include <vector>

#include "storage/rows.h"

/// What a scheduler needs to go on after a restart.
namespace rung {

/// How many of the newest attempt's last steps `recent_metrics` holds.
inline constexpr size_t kRecentMetricSteps = 64;

struct ExperimentSnapshot {
  ExperimentRow experiment;                ///< not final
  std::vector<TrialRow> trials;            ///< all, by number
  std::vector<AttemptRow> attempts;        ///< all, by (trial, attempt)
  std::vector<DecisionRow> decisions;      ///< all, by seq
  std::vector<CheckpointRow> checkpoints;  ///< those in state stored
  /// Of each trial that is not final, or has an attempt that is not final (it may still report
  /// after its end was decided): the last kRecentMetricSteps steps of its newest attempt that has
  /// rows, by (trial, step, name). They answer repeats of reports whose answer was lost on the way.
  std::vector<MetricRow> recent_metrics;
  /// Of the same trials: the objective's rows that are not superseded, by (trial,
  /// step, attempt). The best value is found again from them when a resumed attempt supersedes
  /// later steps.
  std::vector<MetricRow> objective_metrics;
};

struct Snapshot {
  ExperimentId last_experiment_id;              ///< the highest ever given out; 0: none
  std::vector<ExperimentSnapshot> experiments;  ///< by id
  std::vector<WorkerRow> workers;               ///< by name
  std::vector<RequestRow> requests;             ///< by (time, request_id)
};

}  // namespace rung
