#pragma once

#include "core/parameters.h"
#include "scheduler/json_reader.h"
#include "search/space.h"

/// The `space` of an experiment document, and configurations written out in one.
namespace rung {

/// Reads every form of INTERFACES.md §2 "Search space".
SpaceSpec ReadSpace(const JsonNode& node);

/// Reads a configuration such as `{"lr": 0.001, "batch_size": 32}` in the order of the space:
/// every parameter that applies must be there with a value that its form could have drawn;
/// constants may be left out, and a conditional one must be there exactly when its condition holds.
Configuration ReadConfiguration(const JsonNode& node, const SpaceSpec& space);

/// Records a problem when `name`, a key of `node`, is no parameter of the space.
void RequireParameter(const JsonNode& node, const std::string& name, const SpaceSpec& space);

}  // namespace rung
