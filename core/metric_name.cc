#include "core/metric_name.h"

#include <fmt/format.h>

#include <optional>

namespace rung {
namespace {

/// The control character at the start of `text`.
std::optional<int> ControlCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return byte(0);
  const bool upper = byte(0) == 0xC2 && text.size() > 1 && byte(1) >= 0x80 && byte(1) < 0xA0;
  if (upper) return byte(1);  // U+0080 to U+009F are C2 80 to C2 9F
  return std::nullopt;
}

}  // namespace

absl::Status CheckMetricName(std::string_view name) {
  if (name.empty() || name.size() > kMetricNameBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("a name must have 1 to {} bytes, found {}", kMetricNameBytesMax, name.size()));
  }
  for (size_t i = 0; i < name.size(); ++i) {
    const std::optional<int> control = ControlCharacter(name.substr(i));
    if (!control) continue;
    return absl::InvalidArgumentError(
        fmt::format("a name must have no control character, found U+{:04X} after '{}'", *control,
                    name.substr(0, i)));
  }
  return absl::OkStatus();
}

}  // namespace rung
