#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

/// Figures of others, from a file, to be read beside a comparison:
///   {"title": "the article", "columns": ["grid search", "ASHA"],
///    "rows": [{"label": "wall time", "values": ["12 h", "2.6 h"]}], "note": "…"}
namespace rung::cli {

struct ReferenceRows {
  struct Row {
    std::string label;
    std::vector<std::string> values;
  };
  std::string title;
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::string note;  ///< may be empty
};

/// `text` is the file's content, `file` its name in messages. Values may be strings or numbers.
/// Errors: INVALID_ARGUMENT that names what was found and what is allowed.
absl::StatusOr<ReferenceRows> ParseReferenceRows(const std::string& text, const std::string& file);

/// Errors: NOT_FOUND, and those of ParseReferenceRows.
absl::StatusOr<ReferenceRows> ReadReferenceRows(const std::string& file);

}  // namespace rung::cli
