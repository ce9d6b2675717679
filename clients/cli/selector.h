#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "clients/cli/client.h"

/// What a person types for an experiment or a trial.
namespace rung::cli {

struct Selection {
  int64_t experiment_id = 0;
  std::optional<int32_t> trial_number;
  std::optional<int32_t> attempt;
};

/// Splits numbers alone: "12.3" is trial 3 of experiment 12, whatever names exist.
/// nullopt when `text` is not of the form N, N.N or N.N.N.
std::optional<Selection> ParseNumbers(const std::string& text);

/// EXPERIMENT: an id, or a name if only one experiment has it.
/// Errors: NOT_FOUND, FAILED_PRECONDITION that lists the ids of a name that several have,
/// INVALID_ARGUMENT when a trial or an attempt was named.
absl::StatusOr<int64_t> SelectExperiment(const std::string& text, Client& client);

/// TRIAL: "12.3", or the name of an experiment and ".3".
/// Errors: as above, and INVALID_ARGUMENT when no trial or one attempt of it was named: what is
/// done to a trial is more than was asked for.
absl::StatusOr<Selection> SelectTrial(const std::string& text, Client& client);

/// TRIAL, or one attempt of it: "12.3.0".
absl::StatusOr<Selection> SelectTrialOrAttempt(const std::string& text, Client& client);

/// EXPERIMENT or TRIAL; an attempt is refused as by SelectTrial.
absl::StatusOr<Selection> SelectExperimentOrTrial(const std::string& text, Client& client);

}  // namespace rung::cli
