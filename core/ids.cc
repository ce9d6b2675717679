#include "core/ids.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <span>

namespace rung {
namespace {

/// Fills `parts` from `text`, non-negative decimal numbers joined by dots, exactly as many.
bool ParseParts(std::string_view text, std::span<int64_t> parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t end = i + 1 < parts.size() ? text.find('.') : text.size();
    if (end == std::string_view::npos || end == 0) return false;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + end, parts[i]);
    if (error != std::errc() || stop != text.data() + end || parts[i] < 0) return false;
    text.remove_prefix(i + 1 < parts.size() ? end + 1 : end);
  }
  return text.empty();
}

absl::Status Malformed(std::string_view what, std::string_view form, std::string_view text) {
  return absl::InvalidArgumentError(fmt::format("'{}' is no {}: expected {}", text, what, form));
}

bool FitsInt32(int64_t value) { return value <= INT32_MAX; }

}  // namespace

std::string ToString(ExperimentId id) { return fmt::format("{}", id.value); }

std::string ToString(TrialId id) {
  return fmt::format("{}.{}", id.experiment.value, id.number.value);
}

std::string ToString(AttemptId id) { return fmt::format("{}.{}", ToString(id.trial), id.attempt); }

absl::StatusOr<ExperimentId> ParseExperimentId(std::string_view text) {
  std::array<int64_t, 1> parts{};
  if (!ParseParts(text, parts)) return Malformed("experiment id", "a number such as 12", text);
  return ExperimentId{parts[0]};
}

absl::StatusOr<TrialId> ParseTrialId(std::string_view text) {
  std::array<int64_t, 2> parts{};
  if (!ParseParts(text, parts) || !FitsInt32(parts[1])) {
    return Malformed("trial id", "EXPERIMENT.TRIAL such as 12.3", text);
  }
  return TrialId{ExperimentId{parts[0]}, TrialNumber{static_cast<int32_t>(parts[1])}};
}

absl::StatusOr<AttemptId> ParseAttemptId(std::string_view text) {
  std::array<int64_t, 3> parts{};
  if (!ParseParts(text, parts) || !FitsInt32(parts[1]) || !FitsInt32(parts[2])) {
    return Malformed("attempt id", "EXPERIMENT.TRIAL.ATTEMPT such as 12.3.0", text);
  }
  return AttemptId{TrialId{ExperimentId{parts[0]}, TrialNumber{static_cast<int32_t>(parts[1])}},
                   static_cast<int32_t>(parts[2])};
}

}  // namespace rung
