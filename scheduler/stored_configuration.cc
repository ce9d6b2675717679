#include "scheduler/stored_configuration.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <system_error>

namespace rung {
namespace {

/// Walks one JSON object of which only the ends of names and values matter.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool AtEnd() const { return at_ == text_.size(); }

  /// The string literal here, its escapes resolved as JsonQuote makes them.
  std::optional<std::string> TakeString() {
    if (!Take('"')) return std::nullopt;
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] != '\\') {
        value += text_[at_++];
        continue;
      }
      const std::optional<char> c = TakeEscape();
      if (!c) return std::nullopt;
      value += *c;
    }
    if (!Take('"')) return std::nullopt;
    return value;
  }

  /// The text up to the next comma or brace that belongs to the object itself.
  std::optional<std::string> TakeValue() {
    const size_t begin = at_;
    int depth = 0;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quoted) {
        if (c == '\\') ++at_;
        if (c == '"') quoted = false;
      } else if (c == '"') {
        quoted = true;
      } else if (c == '[' || c == '{') {
        ++depth;
      } else if (depth == 0 && (c == ',' || c == '}')) {
        break;
      } else if (c == ']' || c == '}') {
        --depth;
      }
    }
    if (at_ >= text_.size() || at_ == begin) return std::nullopt;
    return std::string(text_.substr(begin, at_ - begin));
  }

 private:
  std::optional<char> TakeEscape() {
    const std::string_view rest = text_.substr(at_);
    if (rest.size() < 2) return std::nullopt;
    at_ += 2;
    switch (rest[1]) {
      case '"':
      case '\\':
      case '/':
        return rest[1];
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'u': {
        if (rest.size() < 6) return std::nullopt;
        at_ += 4;
        int code = 0;
        const auto [end, error] = std::from_chars(rest.data() + 2, rest.data() + 6, code, 16);
        if (error != std::errc() || end != rest.data() + 6) return std::nullopt;
        return static_cast<char>(code);  // JsonQuote writes \u for control characters alone
      }
      default:
        return std::nullopt;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<Configuration> ReadStoredConfiguration(std::string_view json) {
  const auto broken = [&] {
    return absl::DataLossError(fmt::format("params '{}' is not a JSON object as stored", json));
  };
  Reader reader(json);
  Configuration configuration;
  if (!reader.Take('{')) return broken();
  if (!reader.Take('}')) {
    do {
      std::optional<std::string> name = reader.TakeString();
      if (!name || !reader.Take(':')) return broken();
      std::optional<std::string> value = reader.TakeValue();
      if (!value) return broken();
      configuration.parameters.push_back({std::move(*name), std::move(*value)});
    } while (reader.Take(','));
    if (!reader.Take('}')) return broken();
  }
  if (!reader.AtEnd()) return broken();
  return configuration;
}

}  // namespace rung
