#include "core/json_syntax.h"

#include <fmt/format.h>

#include <algorithm>

namespace rung {

std::string JsonSyntaxProblem(std::string_view text, std::optional<size_t> position,
                              std::string_view why) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …"
  if (const size_t end = why.find("column "); end != why.npos) {
    why.remove_prefix(why.find(": ", end) + 2);
  } else if (const size_t bracket = why.find("] "); bracket != why.npos) {
    why.remove_prefix(bracket + 2);
  }
  why = why.substr(0, 300);
  if (!position) return std::string(why);
  const std::string_view read = text.substr(0, *position == 0 ? 0 : *position - 1);
  const auto line = std::count(read.begin(), read.end(), '\n') + 1;
  const size_t line_start = read.rfind('\n') == read.npos ? 0 : read.rfind('\n') + 1;
  return fmt::format("line {}, column {}: {}", line, read.size() - line_start + 1, why);
}

}  // namespace rung
