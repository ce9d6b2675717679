#pragma once

#include <absl/status/status.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "scheduler/event.h"
#include "scheduler/output.h"
#include "storage/snapshot.h"

namespace rung {

/// Limits and times; every one has a flag of rung-scheduler.
struct SchedulerConfig {
  std::chrono::milliseconds lease{
      30'000};  ///< silence of a worker after which its attempts are lost
  int64_t open_steps_per_attempt_max = 64;  ///< steps that wait for further ranks
  int64_t repeats_kept_steps = 64;  ///< stored steps of an attempt whose repeats are answered
  std::chrono::hours request_ids_kept{24};
};

/// The heart: state, and what changes it.
///
/// Pure: the answers depend on the calls so far and their arguments alone. A caller commits
/// `Output::writes` of all steps in order and lets `Output::messages` leave only after that; if a
/// commit fails the object is thrown away and rebuilt by Restore.
class Scheduler {
 public:
  using SpecReader = std::function<absl::StatusOr<ExperimentSpec>(std::string_view)>;
  using ObjectiveReader = std::function<absl::StatusOr<std::vector<MetricRow>>(ExperimentId)>;

  explicit Scheduler(SchedulerConfig config);
  ~Scheduler();
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;

  /// Rebuilds the state from storage; leases start anew at `now`. `parse` reads a stored document
  /// and `objective` is Storage::LoadObjective, asked where a stopping rule needs it. An experiment
  /// whose document `parse` or the searcher refuses, as another version of rung may, is left out:
  /// the others go on. Errors: DATA_LOSS, and those of `objective`, with the experiment's id.
  absl::Status Restore(const Snapshot& snapshot, Now now, const SpecReader& parse,
                       const ObjectiveReader& objective);

  /// The experiments that Restore left out, and why. Their rows stay as they are but for the reason
  /// not_loaded, so that a version that takes them goes on with them; until then their processes
  /// are ended and calls are refused.
  const std::map<ExperimentId, std::string>& not_loaded() const;

  Output Step(const Event& event, Now now);

  /// All that Restore rebuilds, as text for tests: equal texts are equal states.
  std::string Describe() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace rung
