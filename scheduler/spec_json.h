#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "scheduler/experiment_spec.h"

/// The experiment document (INTERFACES.md §2): the one place that reads and checks it.
namespace rung {

struct ExperimentDocument {
  std::string text;  ///< as given, `trial.working_dir` filled in
  ExperimentSpec spec;
};

/// `working_dir` fills in `trial.working_dir` where the document has none; empty: refused then.
/// Errors: INVALID_ARGUMENT with the JSON path (or line and column), what was found and what is
/// allowed; also for a text over kDocumentBytesMax, before or after that; UNIMPLEMENTED for what
/// comes with a later version. What the parts say of each other is checked by MakeSearcher and
/// MakeStoppingRule.
absl::StatusOr<ExperimentDocument> ReadExperimentDocument(std::string_view text,
                                                          std::string_view working_dir);

/// A document as it was stored: of any length, so that what was accepted once stays readable.
/// Errors: as above.
absl::StatusOr<ExperimentSpec> ParseExperimentSpec(std::string_view text);

}  // namespace rung
