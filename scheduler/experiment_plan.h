#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "search/stopping_rule.h"

/// What an experiment will do, as far as that is known before it runs.
namespace rung {

/// The plan as a JSON object, stored with the experiment and printed by `rung validate`:
///   {"max_step": 100, "planned_trials": 27, "brackets": [{"bracket": 0, "rungs": [
///     {"level": 10, "expected_trials": 27.0}, {"level": 30, "expected_trials": 9.0}, …]}],
///    "expected_steps": 640.0, "full_steps": 2700}
/// `expected_trials` reach the level if each rung lets 1/reduction_factor of its trials go on (the
/// ideal: the asynchronous rule lets more go on). `expected_steps` and `full_steps` (no early
/// stopping) are of all trials together. What is not known is null.
std::string PlanJson(const StoppingRuleSpec& spec, const StoppingRule& rule,
                     std::optional<int64_t> planned_trials);

}  // namespace rung
