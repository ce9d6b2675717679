#pragma once

#include <absl/status/statusor.h>

#include <chrono>

#include "rung/v1/workers.pb.h"
#include "scheduler/event.h"
#include "scheduler/output.h"

/// Wire ↔ core: the messages of a worker's session (Workers.Session).
namespace rung {

/// What a Welcome also tells the worker.
struct SessionTimes {
  std::chrono::milliseconds heartbeat{5'000};
  std::chrono::milliseconds lease{30'000};
};

/// Errors: INVALID_ARGUMENT with the field's name, what was found and what is allowed.
absl::StatusOr<Event> EventFromProto(SessionId session, const v1::WorkerMessage& message);

/// `command` is not RefuseWorker, which ends the stream instead.
v1::SchedulerMessage ToProto(const WorkerCommand& command, const SessionTimes& times);

/// The answer to a report that EventFromProto refused, so that the worker need not repeat it.
v1::SchedulerMessage RefusedReport(const v1::WorkerReport& report, const absl::Status& error);

}  // namespace rung
