#pragma once

#include <optional>

#include "scheduler/experiment_spec.h"
#include "scheduler/json_reader.h"

/// The `scheduler` of an experiment document.
namespace rung {

/// `trial` decides asha's default variant: promotion where a trial can go on from a checkpoint. It
/// is absent for ask/tell.
StoppingRuleSpec ReadStoppingRule(const JsonNode& node, const std::optional<TrialTemplate>& trial);

}  // namespace rung
