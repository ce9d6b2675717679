#pragma once

#include "scheduler/json_reader.h"
#include "search/searcher.h"

/// The `searcher` of an experiment document.
namespace rung {

/// Whether it fits the space is checked by MakeSearcher.
SearcherSpec ReadSearcher(const JsonNode& node);

}  // namespace rung
