#pragma once

#include <absl/status/statusor.h>
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "core/check.h"

/// An enum of the core and of the wire, written once and read both ways.
namespace rung {

template <typename Core, typename Wire, size_t N>
using EnumPairs = std::array<std::pair<Core, Wire>, N>;

template <typename Core, typename Wire, size_t N>
Wire WireOf(const EnumPairs<Core, Wire, N>& pairs, Core value) {
  for (const auto& [core, wire] : pairs) {
    if (core == value) return wire;
  }
  RUNG_CHECK(false);  // a table holds every value of its enum
}

/// Errors: INVALID_ARGUMENT for UNSPECIFIED and for a value of a later version; it names `what`.
template <typename Core, typename Wire, size_t N>
absl::StatusOr<Core> CoreOf(const EnumPairs<Core, Wire, N>& pairs, Wire value,
                            std::string_view what) {
  for (const auto& [core, wire] : pairs) {
    if (wire == value) return core;
  }
  return absl::InvalidArgumentError(
      fmt::format("{}: must be one of 1 … {}, found {}", what, N, static_cast<int>(value)));
}

}  // namespace rung
