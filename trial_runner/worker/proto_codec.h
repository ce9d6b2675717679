#pragma once

#include <absl/status/statusor.h>

#include <optional>

#include "core/resources.h"
#include "rung/v1/workers.pb.h"
#include "trial_runner/worker/effect.h"
#include "trial_runner/worker/event.h"

/// The worker's side of the wire: the only place where proto and the runner's types meet.
namespace rung::worker {

/// What a Welcome says beside the attempts.
struct SessionTimes {
  std::chrono::milliseconds heartbeat{2'000};
};

/// The event that a message is; nullopt for one that is none (FetchLog, an unknown kind).
/// Errors: INVALID_ARGUMENT for an enum value or number that this version does not know.
absl::StatusOr<std::optional<Event>> EventFromProto(const v1::SchedulerMessage& message);
SessionTimes TimesFromProto(const v1::Welcome& welcome);
AttemptId FromProto(const v1::AttemptId& id);

struct WorkerInfo {
  std::string name;
  std::string incarnation;  ///< new at each start of the daemon
  std::string host;         ///< numeric
  Resources total;
  std::vector<std::string> gpu_names;
};

v1::WorkerMessage ToProto(const SayHello& hello, const WorkerInfo& info);
v1::WorkerMessage ToProto(const TellStarted& message);
v1::WorkerMessage ToProto(const TellReport& message);
v1::WorkerMessage ToProto(const TellCheckpoint& message);
v1::WorkerMessage ToProto(const TellRankExited& message);
/// Stderr that is not UTF-8 gets U+FFFD for each bad byte: the wire takes nothing else.
v1::WorkerMessage ToProto(const TellExited& message);
v1::WorkerMessage HeartbeatMessage();
v1::WorkerMessage GoodbyeMessage();

}  // namespace rung::worker
