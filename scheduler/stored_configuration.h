#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "core/parameters.h"

/// Reads back what Configuration::ToJson wrote into the column `trials.params`.
namespace rung {

/// Values stay the texts that they were. Errors: DATA_LOSS with the text, when it is not of that
/// form.
absl::StatusOr<Configuration> ReadStoredConfiguration(std::string_view json);

}  // namespace rung
