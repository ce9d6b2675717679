#pragma once

#include <absl/status/statusor.h>

#include <cstdint>

#include "clients/cli/client.h"
#include "clients/cli/console.h"
#include "clients/cli/document_file.h"

namespace rung::cli {

/// Creates an experiment of `document` and returns its id. What `rung validate` would warn of is
/// printed on stderr then, and holds nothing up. Errors: those of CreateExperiment.
absl::StatusOr<int64_t> SubmitDocument(const DocumentFile& document, Client& client,
                                       Console& console);

/// Prints the service's warnings on stderr, a line each.
void PrintWarnings(const pb::ValidateResponse& validation, Console& console);

}  // namespace rung::cli
