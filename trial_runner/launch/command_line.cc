#include "trial_runner/launch/command_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace rung {
namespace {

using nlohmann::json;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// Walks over text that is known to be valid JSON.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  char Peek() const { return text_[at_]; }
  void Skip() { ++at_; }

  /// One value, from its first to its last character.
  std::string_view Value() {
    const size_t begin = at_;
    int depth = 0;
    do {
      const char c = text_[at_];
      if (c == '"') {
        SkipString();
      } else {
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        ++at_;
      }
    } while (depth > 0 || !AtEndOfScalar(begin));
    return text_.substr(begin, at_ - begin);
  }

 private:
  void SkipString() {
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }
  bool AtEndOfScalar(size_t begin) const {
    const char first = text_[begin];
    if (first == '{' || first == '[' || first == '"') return true;
    const char c = text_[at_];
    return c == ',' || c == '}' || c == ']' || IsSpace(c);
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string ArgumentText(const std::string& value_json) {
  if (value_json.front() != '"') return value_json;
  return json::parse(value_json).get<std::string>();
}

absl::StatusOr<std::string> ExpandArgument(std::string_view argument, size_t index,
                                           const Configuration& configuration) {
  std::string text;
  for (size_t i = 0; i < argument.size(); ++i) {
    const char c = argument[i];
    if ((c == '{' || c == '}') && i + 1 < argument.size() && argument[i + 1] == c) {
      text += c;
      ++i;
    } else if (c == '{') {
      const size_t end = argument.find('}', i);
      if (end == std::string_view::npos) {
        return absl::InvalidArgumentError(
            fmt::format("trial.command[{}]: '{{' without '}}' in '{}'; write '{{{{' for a brace",
                        index, argument));
      }
      const std::string* value = configuration.Find(argument.substr(i + 1, end - i - 1));
      if (value != nullptr) text += ArgumentText(*value);
      i = end;
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

absl::StatusOr<Configuration> ParseConfiguration(std::string_view text) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return absl::InvalidArgumentError(
        fmt::format("parameters: must be a JSON object, found '{}'", text));
  }
  Configuration configuration;
  JsonScanner scanner(text);
  scanner.SkipSpace();
  scanner.Skip();  // {
  scanner.SkipSpace();
  while (scanner.Peek() != '}') {
    const std::string name = json::parse(scanner.Value()).get<std::string>();
    scanner.SkipSpace();
    scanner.Skip();  // :
    scanner.SkipSpace();
    configuration.parameters.push_back({.name = name, .json = std::string(scanner.Value())});
    scanner.SkipSpace();
    if (scanner.Peek() == ',') scanner.Skip();
    scanner.SkipSpace();
  }
  return configuration;
}

absl::StatusOr<std::vector<std::string>> ExpandCommand(const std::vector<std::string>& command,
                                                       const Configuration& configuration) {
  std::vector<std::string> arguments;
  arguments.reserve(command.size());
  for (size_t i = 0; i < command.size(); ++i) {
    absl::StatusOr<std::string> argument = ExpandArgument(command[i], i, configuration);
    if (!argument.ok()) return argument.status();
    arguments.push_back(*std::move(argument));
  }
  return arguments;
}

}  // namespace rung
