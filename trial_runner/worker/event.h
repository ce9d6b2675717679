#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"
#include "core/resources.h"
#include "core/trial.h"

/// Everything that can happen to a worker. The shell turns streams, sockets and child processes
/// into these values; nothing else enters Runner::Step.
namespace rung::worker {

/// One attempt as the scheduler wants it run.
struct AttemptSpec {
  AttemptId attempt{};
  std::string experiment_name{};
  std::string params_json{};           ///< JSON object
  std::vector<std::string> command{};  ///< `{name}` not yet replaced
  std::string working_dir{};
  std::vector<std::pair<std::string, std::string>> env{};
  int32_t processes = 1;
  Resources per_process{.milli_cpus = 1000};
  Reduce reduce = Reduce::kRank0;
  std::string checkpoint_root{};  ///< empty: the worker's own
  std::chrono::milliseconds grace{30'000};
  std::chrono::milliseconds failure_grace{2'000};
  int64_t seed = 0;
  Steps resume_step = 0;
  std::string resume_from{};  ///< a checkpoint's path; empty: from step 0
  std::optional<Steps> max_step{};
};

/// Names one line of one connection that waits for its answer. Minted by the shell.
struct RequestId {
  uint64_t value = 0;
  auto operator<=>(const RequestId&) const = default;
};

// ---- from the scheduler ----

/// A stream to the scheduler is open: it is told what is held, and answers with Welcomed.
struct SchedulerConnected {};
struct SchedulerLost {};
struct Welcomed {
  std::vector<AttemptId> keep;
};
struct StartAttempt {
  AttemptSpec spec;
};
struct StopAttempt {
  AttemptId attempt;
  std::chrono::milliseconds grace{30'000};
  bool at_once = false;                 ///< starts at SIGTERM, without the first grace
  Decision decision = Decision::kStop;  ///< what its next report is answered: stop or pause
};
struct ReportAnswered {
  AttemptId attempt;
  Steps step = 0;
  std::vector<uint64_t> report_ids{};
  Decision decision = Decision::kContinue;
  std::string error{};                 ///< not empty: refused, nothing changed
  std::chrono::milliseconds grace{0};  ///< of a decision other than continue: until SIGTERM
};
struct CheckpointAcknowledged {
  uint64_t report_id = 0;
  AttemptId attempt;
  std::string error{};
};
struct ExitAcknowledged {
  AttemptId attempt;
};

// ---- from launch and the shims ----

// Why an attempt could not start: kRefused, this worker lacks the folder or the program; kLost, its
// checkpoint is damaged or missing here; kFailed, it is wrong by itself (another worker could not
// start it either); kCouldNotStart, this machine could not (disk, memory, descriptors, GPUs,
// ports).

/// Nothing of the gang was started.
struct LaunchFailed {
  AttemptId attempt;
  ExitCause cause = ExitCause::kCouldNotStart;
  std::string message;
};
struct RankStarted {
  AttemptId attempt;
  int32_t rank = 0;
};
/// No process of the rank is there.
struct RankCouldNotStart {
  AttemptId attempt;
  int32_t rank = 0;
  ExitCause cause = ExitCause::kCouldNotStart;
  std::string message;
};
/// The rank's leader ended; helpers that it left are being killed.
struct RankExited {
  AttemptId attempt;
  int32_t rank = 0;
  int32_t code = 0;    ///< exit status
  int32_t signal = 0;  ///< not 0: it was ended by this signal
};
/// No process of the rank is left, and every line that it wrote to its socket has been seen.
struct RankGone {
  AttemptId attempt;
  int32_t rank = 0;
  std::string stderr_tail{};  ///< last 64 KiB
};

// ---- from trial sockets ----

struct RankReport {
  AttemptId attempt;
  int32_t rank = 0;
  RequestId request;  ///< 0: nobody is left to read the answer
  Steps step = 0;
  std::vector<MetricValue> metrics;
};
/// The checkpoint was verified and its manifest is on disk.
struct CheckpointWritten {
  AttemptId attempt;
  RequestId request;
  Steps step = 0;
  std::string path;
  int64_t bytes = 0;
};

/// The daemon was asked to end: trials are, too, and nothing is started any more.
struct ShutdownRequested {};
/// Deadlines are looked at: not later than Runner::NextDeadline.
struct Tick {};

using Event = std::variant<SchedulerConnected, SchedulerLost, Welcomed, StartAttempt, StopAttempt,
                           ReportAnswered, CheckpointAcknowledged, ExitAcknowledged, LaunchFailed,
                           RankStarted, RankCouldNotStart, RankExited, RankGone, RankReport,
                           CheckpointWritten, ShutdownRequested, Tick>;

}  // namespace rung::worker
