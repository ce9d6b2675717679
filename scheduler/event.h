#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"
#include "core/resources.h"
#include "core/trial.h"
#include "scheduler/experiment_spec.h"

/// Everything that can happen to the scheduler. The shell turns calls and streams into these
/// values; nothing else enters Scheduler::Step.
namespace rung {

/// Names the caller who waits for an answer. Minted by the shell, opaque here.
struct ReplyToken {
  uint64_t value = 0;
};

/// One connection of one worker. A reconnect is a new session.
struct SessionId {
  uint64_t value = 0;
  auto operator<=>(const SessionId&) const = default;
};

// ---- from clients (service Tuner) ----

struct CreateExperiment {
  ReplyToken reply;
  std::string request_id;  ///< may be empty: then a repeat is a second experiment
  std::string owner;       ///< the caller's name; the document's own owner goes first
  std::string document;
  ExperimentSpec spec;
};
struct StopExperiment {
  ReplyToken reply;
  std::string request_id;
  ExperimentId experiment;
};
struct StopTrial {
  ReplyToken reply;
  std::string request_id;
  TrialId trial;
};
/// Ask/tell: hands out the next trial of an experiment without a trial template.
struct StartTrial {
  ReplyToken reply;
  std::string request_id;
  ExperimentId experiment;
  std::string owner;
  std::chrono::milliseconds lease{600'000};
};
struct ClientReport {
  ReplyToken reply;
  AttemptId attempt;
  Steps step = 0;
  std::vector<MetricValue> metrics;
};
struct KeepAlive {
  ReplyToken reply;
  AttemptId attempt;
};
struct FinishTrial {
  ReplyToken reply;
  std::string request_id;
  AttemptId attempt;
  bool failed = false;
  std::string message;
};

// ---- from workers (service Workers) ----

struct WorkerInfo {
  std::string name;         ///< unique; a second live worker of one name is refused
  std::string incarnation;  ///< new at each start of the daemon
  std::string host;         ///< numeric address at which peers reach it
  std::string version;
  Resources total;
  std::vector<std::string> gpu_names;
};
/// What a worker holds when it (re)connects.
struct HeldAttempt {
  AttemptId attempt;
  AttemptState state = AttemptState::kRunning;
  Steps last_stored_step = 0;
};
struct WorkerConnected {
  SessionId session;
  WorkerInfo worker;
  std::vector<HeldAttempt> held;
};
/// The stream broke. The worker's attempts live on until their leases expire.
struct WorkerDisconnected {
  SessionId session;
};
/// The worker's daemon ends; it holds nothing any more.
struct WorkerGoodbye {
  SessionId session;
};
struct WorkerHeartbeat {
  SessionId session;
};
struct AttemptStarted {
  SessionId session;
  AttemptId attempt;
};
/// A report of one rank. It is repeated until answered: `report_id` is echoed in the answer.
struct WorkerReport {
  SessionId session;
  uint64_t report_id = 0;  ///< unique within one incarnation of the worker
  AttemptId attempt;
  int32_t rank = 0;
  Steps step = 0;
  std::vector<MetricValue> metrics;
};
struct CheckpointReported {
  SessionId session;
  uint64_t report_id = 0;
  AttemptId attempt;
  Steps step = 0;
  std::string path;  ///< absolute; verified and with its manifest on disk
  int64_t bytes = 0;
};
/// One rank of a gang is gone while others may run: open steps no longer wait for it.
struct RankExited {
  SessionId session;
  AttemptId attempt;
  int32_t rank = 0;
};
/// Every process of the attempt is gone. Comes after all its reports; repeated until acknowledged.
struct AttemptExited {
  SessionId session;
  AttemptId attempt;
  ExitCause cause = ExitCause::kCompleted;
  std::optional<int32_t> exit_code;  ///< of the first rank that failed; 128 + signal for a signal
  std::string message;
  std::vector<std::pair<int32_t, std::string>> stderr_tails;  ///< (rank, last 64 KiB), failed ranks
};

/// Deadlines are looked at. The shell sends one at least every 200 ms.
struct Tick {};

using Event =
    std::variant<CreateExperiment, StopExperiment, StopTrial, StartTrial, ClientReport, KeepAlive,
                 FinishTrial, WorkerConnected, WorkerDisconnected, WorkerGoodbye, WorkerHeartbeat,
                 AttemptStarted, WorkerReport, CheckpointReported, RankExited, AttemptExited, Tick>;

}  // namespace rung
