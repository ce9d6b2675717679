#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/metric.h"
#include "search/stopping_rule.h"

/// What a stopping rule is expected to do with a number of trials, before anything runs.
///
/// Expected numbers are those of a rule that keeps exactly the best 1/η at every level: the real
/// one decides on the trials that have arrived so far and lets more go on (docs say how many).
namespace rung {

struct PlannedLevel {
  Steps level = 0;
  double expected_trials = 0;  ///< how many reach it
  double expected_steps = 0;   ///< that these take from the level before to this one
};

struct PlannedBracket {
  int32_t index = 0;
  double weight = 1;                 ///< share of the trials, 0 to 1
  double expected_trials = 0;        ///< how many start in it
  std::vector<PlannedLevel> levels;  ///< ascending; R is not among them
  double expected_completed = 0;     ///< how many reach R
  double expected_steps = 0;         ///< of all its trials, to the end
};

struct Plan {
  std::optional<Steps> max_step;         ///< R; nullopt where trials end by themselves
  std::vector<PlannedBracket> brackets;  ///< none for a rule without levels
  std::optional<double> expected_steps;  ///< of all trials; nullopt where it depends on the values
  std::optional<double> full_steps;      ///< of all trials run to R; nullopt where R is not known
  std::vector<std::string> warnings;  ///< whole sentences about settings that are likely mistakes
};

struct PlanInput {
  StoppingRuleSpec rule;
  std::optional<int64_t> trials;  ///< Searcher::PlannedTrials
  /// How many trials run at once; nullopt where it is not known.
  std::optional<int64_t> concurrent;
};

/// Errors: those of MakeStoppingRule.
absl::StatusOr<Plan> MakePlan(const PlanInput& input);

}  // namespace rung
