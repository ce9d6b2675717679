#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"
#include "search/stopping_rule.h"

/// The levels and brackets of one asha experiment, and what a report passes on its way up.
namespace rung {

/// What a report does by its step and the kind of its value, whatever the rungs hold
/// (EARLY_STOPPING.md §2). Levels are indices in Ladder::levels().
struct Passage {
  size_t skipped_to = 0;  ///< the levels from the lowest not yet passed to this one, without
                          ///< it, are skipped
  std::optional<size_t> entered;  ///< the level whose rung the value enters
  bool loser = false;             ///< it enters as a loser: the value is not finite
  bool non_finite = false;        ///< the policy `stop` ends the trial
  bool completed = false;         ///< R is reached
};

/// Turns what the rungs said into a stop where the policy `stop` or R ends the trial.
void EndTrial(const Passage& passage, Verdict& verdict);

class Ladder {
 public:
  /// `seed` draws the brackets. Errors: INVALID_ARGUMENT with a path below `scheduler.asha`.
  static absl::StatusOr<Ladder> Create(const AshaSpec& spec, int64_t seed);

  /// Of bracket 0, ascending, R not included. Bracket s has those from index s on.
  const std::vector<Steps>& levels() const { return levels_; }
  size_t brackets() const { return bracket_bounds_.size(); }
  int32_t BracketOf(TrialNumber trial) const;
  /// The index of a level, which must exist.
  size_t IndexOf(Steps level) const;
  /// How many levels lie at or below `step`.
  size_t PassedAt(Steps step) const;

  /// `next` is the index of the lowest level that the trial has not passed. A report that policy
  /// `ignore` leaves out passes nothing, but a step beyond R ends the trial even so.
  Passage Pass(Steps step, double value, size_t next) const;

 private:
  Ladder(const AshaSpec& spec, int64_t seed);

  Steps max_t_;
  AshaSpec::NonFinite non_finite_;
  int64_t seed_;
  std::vector<Steps> levels_;
  std::vector<double> bracket_bounds_;  ///< cumulative weights
};

}  // namespace rung
