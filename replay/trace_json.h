#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "replay/trace.h"

/// The text of a trace → a trace, without a document in between, which would be ten times as large
/// as the events (bench/replay_bench shows how long it takes).
namespace rung {

inline constexpr size_t kTraceBytesMax = size_t{1} << 30;

/// Reads rung's own format (INTERFACES.md §6) and, where the key `peer` comes before `events`, the
/// recordings of Ray Tune's AsyncHyperBandScheduler and Optuna's SuccessiveHalvingPruner.
/// Errors: INVALID_ARGUMENT with the path (`events[12].report.step: …`) or with line and column;
/// those of the key `scheduler` as for an experiment document.
absl::StatusOr<Trace> ReadTrace(std::string_view text);

}  // namespace rung
