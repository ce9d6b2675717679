#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "search/plan.h"

/// What an experiment will do, as far as that is known before it runs.
namespace rung {

/// The plan as a JSON object, stored with the experiment and printed by `rung validate`:
///   {"max_step": 100, "planned_trials": 27, "brackets": [{"bracket": 0, "expected_trials": 27.0,
///     "rungs": [{"level": 10, "expected_trials": 27.0, "expected_steps": 270.0}, …],
///     "expected_completed": 1.0, "expected_steps": 640.0}],
///    "expected_steps": 640.0, "full_steps": 2700.0}
/// search/plan.h says what the numbers mean. Without rungs `brackets` is empty. What is not known
/// is null.
std::string PlanJson(const Plan& plan, std::optional<int64_t> planned_trials);

}  // namespace rung
