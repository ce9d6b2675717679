#include "clients/cli/submission.h"

#include "clients/cli/quantity.h"

namespace rung::cli {

absl::StatusOr<int64_t> SubmitDocument(const DocumentFile& document, Client& client,
                                       Console& console) {
  const auto id = client.CreateExperiment(document.text, document.working_dir);
  if (!id.ok()) return id;
  pb::ValidateRequest request;
  request.set_document(document.text);
  request.set_working_dir(document.working_dir);
  const auto validation = client.Validate(request);
  // The experiment exists: that its warnings did not arrive is no error of the submission.
  if (validation.ok()) PrintWarnings(*validation, console);
  return id;
}

void PrintWarnings(const pb::ValidateResponse& validation, Console& console) {
  for (const std::string& warning : validation.warnings()) {
    console.err << "warning: " << Printable(warning) << "\n";
  }
}

}  // namespace rung::cli
