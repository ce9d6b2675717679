#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment.h"
#include "core/ids.h"
#include "core/metric.h"
#include "core/time.h"
#include "core/trial.h"

/// The rows of the database as values, one struct a table (INTERFACES.md §4; docs/database.md lists
/// every column with its unit). A row is written whole: the primary key decides insert or replace.
/// Rows compare field by field; a NaN equals nothing, itself included (use SameValue).
namespace rung {

struct ExperimentRow {  // key: id
  ExperimentId id;
  std::string name;
  ExperimentState state = ExperimentState::kActive;
  std::string reason;
  std::string document;  ///< the JSON text as submitted, defaults not filled in but working_dir
  std::string metric;
  Goal goal = Goal::kMinimize;
  BestBy best_by = BestBy::kBest;
  int64_t seed = 0;
  std::string owner;
  int32_t priority = 0;
  std::optional<int64_t> planned_trials;
  std::optional<Steps> max_step;
  std::string plan;  ///< JSON: levels, brackets, expected trials and steps a rung
  WallTime created;
  std::optional<WallTime> ended;
  bool operator==(const ExperimentRow&) const = default;
};

struct TrialRow {  // key: id
  TrialId id;
  TrialState state = TrialState::kQueued;
  std::string reason;  ///< of the state; while queued, what the trial waits for
  std::string params;  ///< JSON object
  int32_t bracket = 0;
  std::optional<double> best_value;  ///< by the experiment's best_by; never NaN
  std::optional<Steps> best_step;
  std::optional<Steps> last_step;      ///< of the current curve: falls when an attempt supersedes
  std::optional<Steps> furthest_step;  ///< the highest that any attempt stored: never falls
  int64_t metric_rows = 0;             ///< in the table metrics, superseded ones included
  int32_t failures = 0;
  int32_t losses = 0;  ///< in a row, without a newly stored step
  WallTime created;
  std::optional<WallTime> ended;
  bool operator==(const TrialRow&) const = default;
};

struct AttemptRow {  // key: id
  AttemptId id;
  AttemptState state = AttemptState::kAssigned;
  std::optional<ExitCause> exit_cause;
  std::optional<int32_t> exit_code;  ///< of the first rank that failed; 128 + signal for a signal
  std::string message;               ///< what a person should know of the exit
  std::string workers;               ///< names, comma-separated; empty for ask/tell
  std::string owner;                 ///< ask/tell: who holds the lease
  Steps resume_step = 0;
  int32_t processes = 1;
  int32_t gpus = 0;          ///< of the whole gang
  int64_t milli_cpus = 0;    ///< of the whole gang
  int64_t memory_bytes = 0;  ///< of the whole gang; 0: not asked for
  WallTime started;          ///< when it was assigned
  std::optional<WallTime> ended;
  double gpu_s = 0;               ///< GPUs held × seconds; set when the attempt is final
  double cpu_s = 0;               ///< CPU shares held × seconds; set when the attempt is final
  std::optional<double> lease_s;  ///< ask/tell: silence after which it is lost
  bool operator==(const AttemptRow&) const = default;
};

/// Inserted once, never changed: a second row of one key is a bug of the writer, and its batch is
/// refused with INTERNAL.
struct MetricRow {  // key: attempt, step, name
  AttemptId attempt;
  Steps step = 0;
  std::string name;
  double value = 0;   ///< NaN is stored as NULL
  int32_t ranks = 1;  ///< how many made the value
  WallTime time;
  bool operator==(const MetricRow&) const = default;
};

/// A metric row as it is read back.
struct StoredMetric {
  MetricRow row;
  bool superseded = false;
  bool operator==(const StoredMetric&) const = default;
};

/// Marks what later attempts replaced: the stored rows of attempts before `attempt` with step >
/// `after_step`. They are kept, but out of curves, leaderboard and best.
struct SupersedeMetrics {
  AttemptId attempt;
  Steps after_step = 0;
  bool operator==(const SupersedeMetrics&) const = default;
};

struct DecisionRow {  // key: experiment, seq
  ExperimentId experiment;
  int64_t seq = 0;  ///< number of the row within its experiment, from 1
  int32_t attempt = 0;
  int32_t bracket = 0;
  Steps level = 0;
  TrialNumber trial;
  Steps step = 0;
  double value = 0;
  int64_t n_before = 0;
  int64_t entries = 0;
  std::optional<int64_t> rank;
  std::optional<double> cutoff;
  std::string rule;
  std::string decision;
  std::string reason;
  WallTime time;
  bool operator==(const DecisionRow&) const = default;
};

struct CheckpointRow {  // key: attempt, step
  AttemptId attempt;
  Steps step = 0;
  std::string path;   ///< absolute
  std::string place;  ///< a worker's name, or "shared"
  int64_t bytes = 0;
  std::string state = "stored";  ///< stored or deleted
  int32_t refs = 0;              ///< who still needs it
  WallTime time;
  bool operator==(const CheckpointRow&) const = default;
};

struct WorkerRow {  // key: name
  std::string name;
  std::string state;  ///< connected, lost or gone
  std::string host;
  std::string version;
  int64_t milli_cpus = 0;
  int64_t memory_bytes = 0;
  int32_t gpus = 0;
  std::string gpu_names;  ///< JSON array
  WallTime first_seen;
  WallTime last_seen;
  bool operator==(const WorkerRow&) const = default;
};

/// What happened and why, for people; rows are only appended.
struct EventRow {
  ExperimentId experiment;  ///< 0: not of an experiment
  std::optional<TrialNumber> trial;
  std::optional<int32_t> attempt;
  std::string kind;     ///< trial_created, attempt_assigned, attempt_exited, experiment_paused, …
  std::string message;  ///< a sentence
  WallTime time;
  bool operator==(const EventRow&) const = default;
};

/// The first answer to a writing call, kept for 24 h, so that repeating the call repeats the
/// answer.
struct RequestRow {  // key: request_id
  std::string request_id;
  std::string method;
  std::string answer;  ///< a text id such as 12 or 12.3.0; empty where the call answers nothing
  WallTime time;
  bool operator==(const RequestRow&) const = default;
};

struct LogTailRow {  // key: attempt, rank
  AttemptId attempt;
  int32_t rank = 0;
  std::string text;  ///< the last 64 KiB of its stderr
  bool operator==(const LogTailRow&) const = default;
};

}  // namespace rung
