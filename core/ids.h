#pragma once

#include <absl/status/statusor.h>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

/// Names of the things that rung keeps: numbers inside, one text form everywhere outside.
///
/// The text form is the same in the CLI, the database, environment variables, files and URLs:
/// `12` (experiment), `12.3` (trial), `12.3.0` (attempt).
namespace rung {

/// An experiment's number, from 1, never reused.
struct ExperimentId {
  int64_t value = 0;
  auto operator<=>(const ExperimentId&) const = default;
};

/// A trial's number within its experiment, from 0, in the order of creation.
struct TrialNumber {
  int32_t value = 0;
  auto operator<=>(const TrialNumber&) const = default;
};

struct TrialId {
  ExperimentId experiment;
  TrialNumber number;
  auto operator<=>(const TrialId&) const = default;
};

/// One run of a trial. `attempt` counts from 0 and is the fencing token: what an older attempt
/// reports after a newer one began is refused, and an event says so.
struct AttemptId {
  TrialId trial;
  int32_t attempt = 0;
  auto operator<=>(const AttemptId&) const = default;
};

std::string ToString(ExperimentId id);
std::string ToString(TrialId id);
std::string ToString(AttemptId id);

/// Errors: INVALID_ARGUMENT that names the text found and the form allowed.
absl::StatusOr<ExperimentId> ParseExperimentId(std::string_view text);
absl::StatusOr<TrialId> ParseTrialId(std::string_view text);
absl::StatusOr<AttemptId> ParseAttemptId(std::string_view text);

template <typename H>
H AbslHashValue(H h, ExperimentId id) {
  return H::combine(std::move(h), id.value);
}
template <typename H>
H AbslHashValue(H h, TrialNumber number) {
  return H::combine(std::move(h), number.value);
}
template <typename H>
H AbslHashValue(H h, TrialId id) {
  return H::combine(std::move(h), id.experiment, id.number);
}
template <typename H>
H AbslHashValue(H h, AttemptId id) {
  return H::combine(std::move(h), id.trial, id.attempt);
}

}  // namespace rung
