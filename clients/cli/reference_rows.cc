#include "clients/cli/reference_rows.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace rung::cli {
namespace {

using Json = nlohmann::json;

absl::Status Wrong(const std::string& file, std::string_view path, std::string_view wanted) {
  return absl::InvalidArgumentError(fmt::format("{}: {}: must be {}", file, path, wanted));
}

bool IsCell(const Json& value) { return value.is_string() || value.is_number(); }

bool IsCells(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), IsCell);
}

std::vector<std::string> Cells(const Json& values) {
  std::vector<std::string> cells;
  for (const Json& value : values) {
    cells.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return cells;
}

}  // namespace

absl::StatusOr<ReferenceRows> ParseReferenceRows(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Wrong(file, "the file", "a JSON object");
  for (const auto& [key, value] : json.items()) {
    if (key != "title" && key != "columns" && key != "rows" && key != "note") {
      return Wrong(file, key, "absent: allowed are title, columns, rows, note");
    }
  }
  if (json.contains("title") && !json["title"].is_string()) return Wrong(file, "title", "a string");
  if (json.contains("note") && !json["note"].is_string()) return Wrong(file, "note", "a string");
  if (!json.contains("columns") || !IsCells(json["columns"])) {
    return Wrong(file, "columns", "an array of strings");
  }
  if (!json.contains("rows") || !json["rows"].is_array()) return Wrong(file, "rows", "an array");
  ReferenceRows reference{.title = json.value("title", "reference"),
                          .columns = Cells(json["columns"]),
                          .rows = {},
                          .note = json.value("note", "")};
  for (size_t i = 0; i < json["rows"].size(); ++i) {
    const Json& row = json["rows"][i];
    const bool right = row.is_object() && row.contains("label") && row["label"].is_string() &&
                       row.contains("values") && IsCells(row["values"]) &&
                       row["values"].size() <= reference.columns.size();
    if (!right) {
      return Wrong(file, fmt::format("rows[{}]", i),
                   R"({"label": string, "values": [at most one a column]})");
    }
    reference.rows.push_back(
        {.label = row["label"].get<std::string>(), .values = Cells(row["values"])});
  }
  return reference;
}

absl::StatusOr<ReferenceRows> ReadReferenceRows(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) return absl::NotFoundError(fmt::format("cannot read the reference file {}", file));
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  return ParseReferenceRows(text, file);
}

}  // namespace rung::cli
