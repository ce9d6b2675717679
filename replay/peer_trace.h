#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string_view>

#include "replay/event_fields.h"
#include "replay/trace.h"
#include "scheduler/json_document.h"

/// Recordings of other systems' decisions: Ray Tune's AsyncHyperBandScheduler and Optuna's
/// SuccessiveHalvingPruner, one event a line.
namespace rung {

/// A report, and what the peer decided on it.
struct PeerReport {
  TraceEvent event;
  RecordedAnswer answer;  ///< the cutoff with the peer's sign: larger is better
};

/// nullopt: an event that decides nothing (a trial is added, or has completed).
/// Errors: INVALID_ARGUMENT with the path.
absl::StatusOr<std::optional<PeerReport>> ReadPeerEvent(const EventFields& fields);

/// Fills in `trace.setup.rule`, its goal and what is known of the peer, whose name is set.
/// Errors: INVALID_ARGUMENT with the path; also for settings that asha cannot be given.
absl::Status ReadPeerParams(const Json& params, Trace& trace);

}  // namespace rung
