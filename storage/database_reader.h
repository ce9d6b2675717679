#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/rows.h"

/// What clients may ask of the database. Every read is one snapshot on a read-only connection of
/// its own: it never waits for the writer nor delays it.
namespace rung {

struct ReaderOptions {
  /// A read that takes longer ends with DEADLINE_EXCEEDED, so that no snapshot keeps the WAL long.
  std::chrono::milliseconds read_timeout{5000};
  /// Reads at the same time; a further one waits up to read_timeout, then UNAVAILABLE.
  int connections_max = 16;
};

/// `token` is a former page's next_page_token, empty for the first page. `size` 0 means the list's
/// usual size; a size above the list's largest is cut to that.
struct PageRequest {
  int32_t size = 0;
  std::string token;
};

/// `next_page_token` is empty on the last page.
template <typename Item>
struct Page {
  std::vector<Item> items;
  std::string next_page_token;
};

struct TrialCounts {
  int64_t queued = 0;
  int64_t running = 0;
  int64_t paused = 0;
  int64_t completed = 0;
  int64_t stopped = 0;
  int64_t failed = 0;
  int64_t cancelled = 0;
};

struct TrialSummary {
  TrialRow trial;
  /// The objective at the last step that has it, superseded rows left out; may be NaN.
  std::optional<double> last_value;
};

/// Occupancy of one rung. Grants of promotions are no entries: a paused trial that was promoted has
/// continued.
struct RungOccupancy {
  int32_t bracket = 0;
  Steps level = 0;
  int64_t entries = 0;  ///< continued + stopped + paused
  int64_t continued = 0;
  int64_t stopped = 0;
  int64_t paused = 0;
  int64_t skipped = 0;
  /// Earned promotions beyond the share that goes on: entries · level div next level. 0 where
  /// nobody is promoted.
  int64_t over_promoted = 0;
  std::optional<double> best_value;  ///< best finite value, by the experiment's goal
};

struct ExperimentSummary {
  ExperimentRow experiment;
  TrialCounts trials;
  Steps steps_spent = 0;             ///< finished units over all attempts, superseded ones included
  double gpu_s = 0;                  ///< GPUs held × seconds; attempts not final count up to now
  double cpu_s = 0;                  ///< CPU shares held × seconds, likewise
  std::optional<TrialSummary> best;  ///< by goal; of equals the lowest number; none without a value
  std::vector<RungOccupancy> rungs;  ///< by (bracket, level)
};

struct AttemptDetail {
  AttemptRow attempt;                 ///< gpu_s and cpu_s up to now while it is not final
  std::vector<LogTailRow> log_tails;  ///< by rank
};

/// Bounded, as it travels in one message: a trial that fails at once may have any number of
/// attempts.
struct TrialDetail {
  static constexpr int32_t kAttemptsMax = 1'000;
  /// Of attempts before that with which the tails reach this, the tails are left out.
  static constexpr size_t kTailBytesEnough = size_t{2} << 20;

  TrialSummary summary;
  std::vector<AttemptDetail> attempts;  ///< by number, the newest kAttemptsMax
};

enum class TrialOrder {
  kNumber,
  kBest,  ///< best value first by the experiment's goal, those without one last; then by number
};

struct TrialQuery {
  ExperimentId experiment;
  TrialOrder order = TrialOrder::kNumber;
  std::vector<TrialState> states;  ///< only these; empty: all
  PageRequest page;                ///< 100 unless given, at most 1000
};

struct MetricQuery {
  ExperimentId experiment;
  std::optional<TrialNumber> trial;
  std::string name;  ///< only this metric; empty: all
  bool include_superseded = false;
  PageRequest page;  ///< 1000 unless given, at most 10,000
};

struct DecisionQuery {
  ExperimentId experiment;
  std::optional<TrialNumber> trial;
  PageRequest page;  ///< 1000 unless given, at most 10,000
};

struct WorkerSummary {
  WorkerRow worker;
  std::vector<AttemptRow> attempts;  ///< not final and placed on it, by id
};

/// Errors of every read: NOT_FOUND naming the id; INVALID_ARGUMENT for a page size below 0 or a
/// page token that this list did not give; DEADLINE_EXCEEDED and UNAVAILABLE (ReaderOptions); those
/// of Storage. Any thread may call any method at any time.
class DatabaseReader {
 public:
  /// The file must exist and have the latest schema: open it as storage first.
  /// Errors: NOT_FOUND, FAILED_PRECONDITION.
  static absl::StatusOr<std::unique_ptr<DatabaseReader>> Open(const std::filesystem::path& path,
                                                              const ReaderOptions& options = {});
  ~DatabaseReader();

  /// `now` is the end of what attempts that still run have used.
  absl::StatusOr<ExperimentSummary> GetExperiment(ExperimentId id, WallTime now) const;
  /// Newest first; `name` empty: all. Page of 100 unless given, at most 1000. Their `document`,
  /// `plan` and `rungs` are left empty.
  absl::StatusOr<Page<ExperimentSummary>> ListExperiments(const std::string& name,
                                                          const PageRequest& page,
                                                          WallTime now) const;
  absl::StatusOr<TrialDetail> GetTrial(TrialId id, WallTime now) const;
  absl::StatusOr<Page<TrialSummary>> ListTrials(const TrialQuery& query) const;
  /// By (trial, step, attempt, name).
  absl::StatusOr<Page<StoredMetric>> ListMetrics(const MetricQuery& query) const;
  /// By seq.
  absl::StatusOr<Page<DecisionRow>> ListDecisions(const DecisionQuery& query) const;
  /// By name.
  absl::StatusOr<std::vector<WorkerSummary>> ListWorkers() const;
  /// The stderr of the first failed rank of the attempt that failed last; nullopt if none has.
  absl::StatusOr<std::optional<LogTailRow>> LastStderr(ExperimentId id) const;

 private:
  class Pool;
  explicit DatabaseReader(std::unique_ptr<Pool> pool);
  std::unique_ptr<Pool> pool_;
};

}  // namespace rung
