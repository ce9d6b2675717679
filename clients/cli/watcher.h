#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <ostream>

#include "clients/cli/session.h"

/// Follows an experiment until it ends, and shows how far it is.
namespace rung::cli {

/// Where and how the progress is shown.
struct WatchView {
  std::ostream& stream;
  Terminal terminal;  ///< interactive: one table redrawn in place; else a line now and then
  bool json = false;  ///< one JSON document a line for each update instead
  bool ends_when_refused = false;  ///< end with an error when all workers refused: no other comes
};

/// Why an experiment that was watched needs somebody: failed, paused because its trials fail, or
/// not loaded by this version of the scheduler. Each ends the watch with exit status 1.
bool NeedsAttention(const pb::Experiment& experiment);

/// Returns the last update, once the experiment is final or NeedsAttention. When the service goes
/// away it is looked for again for a minute, since a restarted one goes on with the experiment.
/// Ctrl-C ends this process, not the experiment, and says how to come back.
/// Errors: NOT_FOUND for an unknown id, UNAVAILABLE after that minute, FAILED_PRECONDITION by
/// WatchView::ends_when_refused, what the service answers.
absl::StatusOr<pb::WatchExperimentResponse> Watch(int64_t experiment_id, const WatchView& view,
                                                  Session& session);

/// The exit status for a watched experiment: 1 when it NeedsAttention, or when no trial has a value
/// of the objective. Says on stderr why it is not 0, with the last stderr, or with what the trials
/// reported instead.
int ReportEnd(const pb::WatchExperimentResponse& last, Session& session);

}  // namespace rung::cli
