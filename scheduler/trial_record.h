#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/time.h"
#include "scheduler/experiment_spec.h"
#include "scheduler/open_steps.h"
#include "storage/rows.h"

/// A trial and its newest attempt as the scheduler holds them: the rows, and what it needs to judge
/// the next report. Earlier attempts are final and live in the database alone.
namespace rung {

struct AttemptRecord {
  AttemptRecord(AttemptRow attempt_row, Reduce reduce);

  AttemptRow row;
  std::chrono::milliseconds client_lease{0};  ///< ask/tell; 0: a worker runs it
  OpenSteps open;
  /// The last repeats_kept_steps steps of this attempt, as stored.
  std::map<Steps, std::map<std::string, double>> stored;
  /// The step whose report was answered with a stop or a pause; absent when the stop came
  /// otherwise.
  std::optional<Steps> stopped_at;
  Decision told = Decision::kStop;   ///< which of the two
  std::optional<Steps> finished_at;  ///< the step that reached R
  /// The last step whose report promoted the trial on arrival, and the reason that it was answered.
  std::optional<std::pair<Steps, std::string>> went_on;
  bool late_report_noted = false;  ///< one event row an attempt says that it reported too late

  bool live() const { return !IsFinal(row.state); }
  bool ask_tell() const { return row.workers.empty(); }
  std::optional<Steps> last_stored_step() const;
  /// How long it holds its resources, by the times that the database has. Never below 0.
  double HeldSeconds(WallTime now) const;
  /// The first kept step that reaches R: R itself with an objective that counts, or any beyond it.
  std::optional<Steps> FirstStepAtEnd(const ExperimentSpec& spec, Steps max_step) const;
};

struct TrialRecord {
  TrialRow row;
  std::optional<AttemptRecord> attempt;
  /// The objective by step, superseded values left out; empty once nothing can be reported.
  std::map<Steps, double> objective;
  /// Those stored, in the order of (attempt, step).
  std::vector<CheckpointRow> checkpoints;

  bool live() const { return attempt && attempt->live(); }
  int32_t next_attempt() const { return attempt ? attempt->row.id.attempt + 1 : 0; }

  /// Adds a value of the objective and sets best_value and best_step by `spec.best_by`. Non-finite
  /// values are never best; of equals the first. `max_t` takes the one that reached `max_step`.
  void AddObjective(Steps step, double value, const ExperimentSpec& spec,
                    std::optional<Steps> max_step);
  /// Leaves out the values after `step`, which a resumed attempt makes anew.
  void SupersedeAfter(Steps step, const ExperimentSpec& spec, std::optional<Steps> max_step);

 private:
  void FindBest(const ExperimentSpec& spec, std::optional<Steps> max_step);
};

}  // namespace rung
