#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/ids.h"
#include "scheduler/placement.h"

/// Who gets free resources next (INTERFACES.md §7).
namespace rung {

struct QueuedTrial {
  TrialNumber number;
  std::optional<std::string> only_on;  ///< the one worker that has its checkpoint
};

/// What one Active experiment wants, the first wish first.
struct WorkDemand {
  ExperimentId experiment;
  int32_t priority = 0;
  int64_t slots_in_use = 0;
  Gang gang;
  std::vector<QueuedTrial> queued;      ///< by number: lost, retried, promoted and waiting
  std::vector<QueuedTrial> promotions;  ///< paused trials by their claim, or the one to be drained
  bool drain = false;                   ///< `promotions` is a drain
  /// The searcher's next trial, which waits ahead of placement.
  std::vector<QueuedTrial> new_trials;
  std::map<std::string, std::string> passed_over;  ///< worker → why it refused a trial of it
  bool at_max_concurrent = false;                  ///< nothing more may run now
};

struct Work {
  ExperimentId experiment;
  TrialNumber trial;
  size_t worker = 0;  ///< index into the offer
};

/// The workers that may take `trial`: neither passed over nor excluded by its checkpoint.
std::vector<WorkerOffer> WorkersFor(const WorkDemand& demand, const QueuedTrial& trial,
                                    std::span<const WorkerOffer> offer);

/// First the experiment (higher priority, then fewer slots in use, then lower id), within it the
/// queued trials, the promotions and the new trials; what does not fit is passed over. nullopt:
/// nothing fits.
std::optional<Work> NextWork(std::span<const WorkDemand> demands,
                             std::span<const WorkerOffer> offer);

/// Why `trial` is not placed, as a sentence that begins with "waiting: ".
std::string WhyWaiting(const WorkDemand& demand, const QueuedTrial& trial,
                       std::span<const WorkerOffer> offer);

}  // namespace rung
