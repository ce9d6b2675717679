#pragma once

#include <string>
#include <vector>

#include "bench/quality_experiment.h"
#include "search/stopping_rule.h"

/// The rules that decision_quality compares, each with the settings' R and r and η = 3.
namespace rung {

/// The rule with which all others are compared, Ray Tune's. Optuna's is kTop.
inline constexpr const char* kQuantile = "asha quantile";
inline constexpr const char* kTop = "asha top";
inline constexpr const char* kFifo = "fifo (no stopping)";

/// Their names, the quantile first.
std::vector<std::string> QualityRules();

/// `name` is one of QualityRules(). A maker of fresh rules, which minimize.
RuleMaker MakerOf(const std::string& name, const QualitySetting& setting);

}  // namespace rung
