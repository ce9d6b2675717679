#pragma once

#include <string>

#include "clients/cli/console.h"
#include "clients/cli/json_view.h"

namespace rung::cli {

/// The plan of an experiment (the service's plan_json) for people: levels and the trials expected
/// at each, expected steps against running everything. "" for a plan without any of them.
std::string PlanText(const Json& plan, const Terminal& terminal);

}  // namespace rung::cli
