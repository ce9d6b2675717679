#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"
#include "core/trial.h"
#include "trial_runner/worker/event.h"

/// What a step wants done, in this order.
namespace rung::worker {

// ---- to launch and the shims ----

/// Checks, prepares and starts every rank. Answered by LaunchFailed, or for each rank by
/// RankStarted or RankCouldNotStart.
struct LaunchGang {
  AttemptSpec spec;
};
/// SIGTERM to the rank's leader.
struct TerminateRank {
  AttemptId attempt;
  int32_t rank = 0;
};
/// SIGKILL to everything of the rank.
struct KillRank {
  AttemptId attempt;
  int32_t rank = 0;
};
/// No process is left: sockets, port and GPUs of the attempt are free.
struct CloseAttempt {
  AttemptId attempt;
};

// ---- to trials ----

struct AnswerDecision {
  RequestId request;
  Decision decision = Decision::kContinue;
  bool durable = true;
};
struct AnswerStored {
  RequestId request;
};
struct AnswerError {
  RequestId request;
  std::string error;
};

// ---- to the daemon's log ----

struct LogWarning {
  AttemptId attempt;
  std::string text;
};

// ---- to the scheduler; only between SchedulerConnected and SchedulerLost ----

struct HeldAttempt {
  AttemptId attempt;
  AttemptState state = AttemptState::kRunning;
  Steps last_stored_step = 0;
};
struct SayHello {
  std::vector<HeldAttempt> held;
};
struct TellStarted {
  AttemptId attempt;
};
struct TellReport {
  uint64_t report_id = 0;
  AttemptId attempt;
  int32_t rank = 0;
  Steps step = 0;
  std::vector<MetricValue> metrics;
};
struct TellCheckpoint {
  uint64_t report_id = 0;
  AttemptId attempt;
  Steps step = 0;
  std::string path;
  int64_t bytes = 0;
};
struct TellRankExited {
  AttemptId attempt;
  int32_t rank = 0;
};
struct TellExited {
  AttemptId attempt;
  ExitCause cause = ExitCause::kCompleted;
  std::optional<int32_t> exit_code{};  ///< of the first rank that failed; 128 + signal
  int32_t failed_rank = -1;            ///< −1: none
  std::string message{};
  std::vector<std::pair<int32_t, std::string>> stderr_tails{};
};

using Effect = std::variant<LaunchGang, TerminateRank, KillRank, CloseAttempt, AnswerDecision,
                            AnswerStored, AnswerError, LogWarning, SayHello, TellStarted,
                            TellReport, TellCheckpoint, TellRankExited, TellExited>;
using Effects = std::vector<Effect>;

}  // namespace rung::worker
