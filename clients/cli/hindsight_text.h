#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "clients/cli/console.h"
#include "clients/cli/stored_experiment.h"

/// What another scheduler would have decided, for people and for machines. Pure.
namespace rung::cli {

/// A summary, and a line a trial. `scheduler` is the text that the person gave.
std::string HindsightText(const Hindsight& hindsight, const StoredExperiment& stored,
                          const std::string& scheduler, const Terminal& terminal);
nlohmann::ordered_json HindsightJson(const Hindsight& hindsight, const StoredExperiment& stored,
                                     const std::string& scheduler);

}  // namespace rung::cli
