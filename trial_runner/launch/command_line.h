#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/parameters.h"

/// From a configuration to the argument list of a rank.
namespace rung {

/// The parameters of one JSON object, in its order, each value as the text that stands there, so
/// that a float is passed on digit by digit. Errors: INVALID_ARGUMENT.
absl::StatusOr<Configuration> ParseConfiguration(std::string_view json);

/// `command` with each `{name}` replaced by the value of that parameter: strings raw, anything else
/// as its JSON text, an absent (conditional) parameter as nothing. `{{` and `}}` are braces.
/// Errors: INVALID_ARGUMENT for a `{` without its `}`.
absl::StatusOr<std::vector<std::string>> ExpandCommand(const std::vector<std::string>& command,
                                                       const Configuration& configuration);

}  // namespace rung
