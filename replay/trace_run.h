#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "replay/trace.h"

/// A trace through its rule: one line of JSON an event (INTERFACES.md §6).
namespace rung {

/// How many of a peer's decisions the rule takes otherwise.
struct PeerComparison {
  int64_t decisions = 0;  ///< compared
  int64_t differ = 0;
  int64_t beyond_end = 0;  ///< not compared: at or past max_t, where the peer has no end
  int64_t cutoffs = 0;     ///< compared, bit for bit
  int64_t cutoffs_differ = 0;
  std::optional<size_t> first_difference;  ///< index of the event
};

/// Takes whole lines, many at a time.
using LineSink = std::function<void(std::string_view)>;

/// nullopt for a trace that records no decisions. A peer's decision is the last key, `recorded`, of
/// its line. Errors: INVALID_ARGUMENT "events[12].report.step: …" after the lines before it;
/// "scheduler…: …" as for an experiment document.
absl::StatusOr<std::optional<PeerComparison>> RunTrace(const Trace& trace, const LineSink& sink);

}  // namespace rung
