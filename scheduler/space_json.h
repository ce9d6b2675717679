#pragma once

#include "core/parameters.h"
#include "scheduler/json_reader.h"
#include "search/space.h"

/// The `space` of an experiment document, and configurations written out in one: their JSON. What
/// they say of each other (conditions, values that a form can give) is checked by MakeSearcher.
namespace rung {

/// Reads every form of INTERFACES.md §2 "Search space".
SpaceSpec ReadSpace(const JsonNode& node);

/// Reads a configuration such as `{"lr": 0.001, "batch_size": 32}` as it is written.
Configuration ReadConfiguration(const JsonNode& node);

}  // namespace rung
