#pragma once

#include <absl/status/statusor.h>

#include <string_view>
#include <vector>

#include "search/hindsight.h"
#include "search/stored_record.h"

/// A recorded experiment through stopping rules: its own, and others. `document` is the experiment
/// document as it was stored.
namespace rung {

/// That the stored decisions are those of the experiment's own rule on its stored reports.
/// Errors: those of CheckRecord, and of the document.
absl::Status CheckExperiment(std::string_view document, const StoredRecord& record);

/// What `scheduler`, the JSON text of that key of a document, would have decided. Whether the
/// trials can resume chooses asha's default variant, and forbids none.
/// Errors: INVALID_ARGUMENT and UNIMPLEMENTED as for a document, with paths below `scheduler`.
absl::StatusOr<Hindsight> LookBackUnder(std::string_view document, std::string_view scheduler,
                                        std::vector<RecordedCurve> curves);

}  // namespace rung
