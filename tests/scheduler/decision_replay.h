#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

#include "scheduler/experiment_spec.h"
#include "search/record_replay.h"
#include "search/stored_record.h"
#include "storage/memory_storage.h"
#include "storage/write_batch.h"

/// Replays what one experiment stored (reports, exits and grants, in the order of its commits)
/// through a fresh stopping rule, and expects the stored decision rows of it (EARLY_STOPPING.md
/// §5).
namespace rung {

inline DecisionRecord RecordOf(const DecisionRow& row) {
  return {row.bracket, row.level, row.trial,  row.step, row.value,    row.n_before,
          row.entries, row.rank,  row.cutoff, row.rule, row.decision, row.reason};
}

class DecisionReplay {
 public:
  DecisionReplay(ExperimentId experiment, const ExperimentSpec& spec)
      : experiment_(experiment),
        metric_(spec.metric),
        replay_(*MakeStoppingRule(spec.scheduler, spec.goal, spec.seed)) {}

  /// The next batch that was committed.
  void Follow(const WriteBatch& batch) {
    for (const Write& write : batch.writes) {
      if (const auto* trial = std::get_if<TrialRow>(&write)) {
        if (trial->id.experiment == experiment_) states_[trial->id.number] = trial->state;
      }
    }
    for (const Write& write : batch.writes) {
      if (const auto* metric = std::get_if<MetricRow>(&write)) Follow(*metric);
      if (const auto* decision = std::get_if<DecisionRow>(&write)) Follow(*decision);
      if (const auto* event = std::get_if<EventRow>(&write)) Follow(*event);
    }
    EXPECT_TRUE(replay_.Finish().ok()) << replay_.Finish();
  }

  int rows() const { return static_cast<int>(replay_.rows()); }

 private:
  void Follow(const MetricRow& metric) {
    const TrialId trial = metric.attempt.trial;
    if (trial.experiment != experiment_ || metric.name != metric_) return;
    const absl::Status status =
        replay_.OnReport(metric.attempt.attempt, {trial.number, metric.step, metric.value});
    EXPECT_TRUE(status.ok()) << status;
  }

  void Follow(const DecisionRow& row) {
    if (row.experiment != experiment_) return;
    const absl::Status status = replay_.OnRow(row.attempt, RecordOf(row));
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(row.seq, replay_.rows());
  }

  void Follow(const EventRow& event) {
    if (event.experiment != experiment_ || event.kind != "trial_ended") return;
    replay_.OnTrialEnded(*event.trial, states_.at(*event.trial));
  }

  ExperimentId experiment_;
  std::string metric_;
  RecordReplay replay_;
  std::map<TrialNumber, TrialState> states_;
};

/// What the tables hold of an experiment that has ended, as `rung replay` reads it.
inline absl::Status CheckTables(const MemoryTables& tables, ExperimentId experiment,
                                const ExperimentSpec& spec) {
  StoredRecord record;
  for (const auto& [key, metric] : tables.metrics) {
    if (key.trial.experiment != experiment || key.name != spec.metric) continue;
    record.reports.push_back(
        {key.attempt, {key.trial.number, key.step, metric.row.value}, metric.row.time.us});
  }
  for (const auto& [key, row] : tables.decisions) {
    if (key.first != experiment) continue;
    record.decisions.push_back({row.attempt, RecordOf(row), row.time.us});
  }
  for (const auto& [id, trial] : tables.trials) {
    if (id.experiment != experiment || !trial.ended) continue;
    record.ends.push_back({id.number, trial.state, trial.ended->us});
  }
  return CheckRecord(record, *MakeStoppingRule(spec.scheduler, spec.goal, spec.seed));
}

}  // namespace rung
