#pragma once

#include "scheduler/json_reader.h"
#include "search/stopping_rule.h"

/// The `scheduler` of an experiment document.
namespace rung {

/// `resumable`: whether a trial can go on from a checkpoint, which decides asha's default variant.
StoppingRuleSpec ReadStoppingRule(const JsonNode& node, bool resumable);

}  // namespace rung
