#pragma once

#include <vector>

#include "storage/rows.h"

/// What a scheduler needs to go on after a restart.
namespace rung {

struct ExperimentSnapshot {
  ExperimentRow experiment;                ///< not final
  std::vector<TrialRow> trials;            ///< all, by number
  std::vector<AttemptRow> attempts;        ///< all, by (trial, attempt)
  std::vector<DecisionRow> decisions;      ///< all, by seq
  std::vector<CheckpointRow> checkpoints;  ///< those in state stored
  /// Of each trial that is not final: the last 64 steps of its newest attempt with rows, by step.
  /// They answer repeats of reports whose answer was lost on the way.
  std::vector<MetricRow> recent_metrics;
  /// Of each trial that is not final: the objective's rows that are not superseded, by step. The
  /// best value is found again from them when a resumed attempt supersedes later steps.
  std::vector<MetricRow> objective_metrics;
};

struct Snapshot {
  ExperimentId last_experiment_id;  ///< the highest ever given out; 0: none
  std::vector<ExperimentSnapshot> experiments;
  std::vector<WorkerRow> workers;
  std::vector<RequestRow> requests;
};

}  // namespace rung
