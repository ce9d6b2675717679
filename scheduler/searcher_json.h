#pragma once

#include "scheduler/json_reader.h"
#include "search/searcher.h"
#include "search/space.h"

/// The `searcher` of an experiment document.
namespace rung {

/// `initial_points` and `points` are checked against `space`, which was read without a problem.
SearcherSpec ReadSearcher(const JsonNode& node, const SpaceSpec& space);

}  // namespace rung
