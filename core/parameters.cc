#include "core/parameters.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "core/check.h"

namespace rung {

const std::string* Configuration::Find(std::string_view name) const {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == name) return &parameter.json;
  }
  return nullptr;
}

std::string Configuration::ToJson() const {
  std::string text = "{";
  for (const Parameter& parameter : parameters) {
    if (text.size() > 1) text += ',';
    text += JsonQuote(parameter.name);
    text += ':';
    text += parameter.json;
  }
  text += '}';
  return text;
}

std::string JsonQuote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          quoted += c;
        }
    }
  }
  quoted += '"';
  return quoted;
}

std::string JsonFloat(double value) {
  RUNG_CHECK(std::isfinite(value));
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  RUNG_CHECK(error == std::errc());
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace rung
