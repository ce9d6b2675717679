#include "core/quantity.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "core/parameters.h"

namespace rung {
namespace {

using Unit = std::pair<std::string_view, double>;

/// `text` in the smallest unit, or nullopt when it is not a plain number with one of `units`.
std::optional<double> ParseQuantity(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  for (const auto& [name, factor] : units) {
    if (text == name) return number * factor;
  }
  return std::nullopt;
}

constexpr std::array<Unit, 5> kDurationUnits{
    {{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}}};
constexpr double kDurationMsMax = 10'000.0 * 86400e3;

constexpr double kKi = 1024;
constexpr std::array<Unit, 9> kSizeUnits{{{"B", 1},
                                          {"KiB", kKi},
                                          {"MiB", kKi* kKi},
                                          {"GiB", kKi* kKi* kKi},
                                          {"TiB", kKi* kKi* kKi* kKi},
                                          {"kB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12}}};
constexpr double kSizeBytesMax = 1e6 * kKi * kKi * kKi * kKi;

}  // namespace

absl::StatusOr<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const std::optional<double> ms = ParseQuantity(text, kDurationUnits);
  if (!ms || *ms > kDurationMsMax) {
    return absl::InvalidArgumentError(
        fmt::format("must be a duration such as \"500ms\", \"30s\", \"10m\" or \"4h\", at most "
                    "\"10000d\", found {}",
                    JsonQuote(text)));
  }
  return std::chrono::milliseconds(std::llround(*ms));
}

absl::StatusOr<int64_t> ParseSize(std::string_view text) {
  const std::optional<double> bytes = ParseQuantity(text, kSizeUnits);
  if (!bytes || *bytes > kSizeBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("must be a size such as \"512MiB\" or \"8GiB\", found {}", JsonQuote(text)));
  }
  return std::llround(*bytes);
}

}  // namespace rung
