#pragma once

#include <optional>
#include <string>

#include "clients/cli/comparison.h"
#include "clients/cli/console.h"
#include "clients/cli/json_view.h"
#include "clients/cli/reference_rows.h"

/// A comparison as a table, an experiment a column, and as JSON.
namespace rung::cli {

std::string ComparisonText(const Comparison& comparison,
                           const std::optional<ReferenceRows>& reference, const Terminal& terminal);

Json ComparisonJson(const Comparison& comparison, const std::optional<ReferenceRows>& reference);

}  // namespace rung::cli
