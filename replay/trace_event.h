#pragma once

#include <absl/status/statusor.h>

#include <cstdint>

#include "replay/event_fields.h"
#include "replay/trace.h"

/// One event of rung's own format: {"report": {…}}, {"free": true} or {"exit": {…}}.
namespace rung {

/// Trial numbers are below kTraceTrialsMax; whether the trace has so many is not checked here.
/// Errors: INVALID_ARGUMENT with the path.
absl::StatusOr<TraceEvent> ReadTraceEvent(const EventFields& fields);

}  // namespace rung
