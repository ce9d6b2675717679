#pragma once

#include <string>
#include <vector>

#include "search/plan.h"

/// Settings of a stopping rule that are legal but likely a mistake.
namespace rung {

/// Whole sentences. `plan` is that of `input` without its warnings, which are not looked at.
std::vector<std::string> WarningsOf(const PlanInput& input, const Plan& plan);

}  // namespace rung
