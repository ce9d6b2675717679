#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/parameters.h"
#include "scheduler/event.h"
#include "storage/write_batch.h"

/// What a step wants done. The shell commits `writes` and only then lets `messages` leave the
/// process.
namespace rung {

// ---- answers to clients ----

struct ExperimentCreated {
  ExperimentId experiment;
};
struct Done {};
struct TrialStarted {
  AttemptId attempt;
  std::string params;  ///< JSON object
  Steps resume_step = 0;
  std::optional<Steps> max_step;
};
/// Every trial is handed out, but some may come back: ask again later.
struct NoTrialNow {};
/// The experiment is over, or nothing can come any more.
struct ExperimentFinished {};
struct ReportAnswered {
  Decision decision = Decision::kContinue;
  std::string reason;
};
using ReplyValue = std::variant<ExperimentCreated, Done, TrialStarted, NoTrialNow,
                                ExperimentFinished, ReportAnswered>;
struct Reply {
  ReplyToken token;
  absl::StatusOr<ReplyValue> value;
};

// ---- commands to workers; all idempotent by attempt (and step) ----

/// First message of a session: which held attempts to go on with. Any other is killed without a
/// report (its number is stale, or its trial is over).
struct Welcome {
  std::vector<AttemptId> keep;
};
/// The name is taken by a live worker, or the versions do not go together. The shell ends the
/// stream.
struct RefuseWorker {
  std::string reason;
};
struct StartAttempt {
  AttemptId attempt;
  std::string experiment_name;
  std::string params;  ///< JSON object
  TrialTemplate trial;
  int64_t seed = 0;  ///< RUNG_SEED: of (experiment seed, trial number), the same for each attempt
  Steps resume_step = 0;
  std::string resume_from;  ///< a checkpoint's path; empty: from step 0
  std::optional<Steps> max_step;
};
/// Ends an attempt: after `grace` SIGTERM to the leaders, `grace` again, then SIGKILL to
/// everything. `at_once` skips the first wait (rung stop, a superseded attempt).
struct StopAttempt {
  AttemptId attempt;
  std::chrono::milliseconds grace{30'000};
  bool at_once = false;
  std::string reason;
  Decision decision = Decision::kStop;  ///< what the trial is told: stop or pause
};
/// Answers reports. A decision other than continue also starts the stop of the attempt on the
/// worker: it waits `grace` for the trial to end by itself, then goes on as StopAttempt.
struct AnswerReport {
  AttemptId attempt;
  Steps step = 0;
  std::vector<uint64_t> report_ids;
  Decision decision = Decision::kContinue;
  std::string reason;
  std::string error;  ///< not empty: the report was refused and nothing changed
  std::chrono::milliseconds grace{0};
};
/// `error` of a report that is refused with `status`: the code in words, and why.
std::string RefusalText(const absl::Status& status);

struct AcknowledgeCheckpoint {
  uint64_t report_id = 0;
  AttemptId attempt;
  Steps step = 0;
  std::string error;
};
/// The exit is durable: the worker may forget the attempt.
struct AcknowledgeExit {
  AttemptId attempt;
};
using WorkerCommand = std::variant<Welcome, RefuseWorker, StartAttempt, StopAttempt, AnswerReport,
                                   AcknowledgeCheckpoint, AcknowledgeExit>;
struct ToWorker {
  SessionId session;
  WorkerCommand command;
};

/// The experiment or one of its trials changed: watchers look again.
struct ExperimentChanged {
  ExperimentId experiment;
};

using Message = std::variant<Reply, ToWorker, ExperimentChanged>;

struct Output {
  WriteBatch writes;
  std::vector<Message> messages;
};

}  // namespace rung
