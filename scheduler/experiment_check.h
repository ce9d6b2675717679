#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameters.h"

/// What `rung validate` says of a document, without creating anything.
namespace rung {

struct ExperimentCheck {
  std::string plan_json;               ///< experiment_plan.h
  std::vector<std::string> warnings;   ///< legal, but likely not meant
  std::vector<Configuration> samples;  ///< the first ones that the experiment would try
  std::optional<int64_t> planned_trials;
};

/// At most 100 `samples`. Errors: those of CreateExperiment.
absl::StatusOr<ExperimentCheck> CheckExperiment(std::string_view document,
                                                std::string_view working_dir, int32_t samples);

}  // namespace rung
