#include "search/plan_warnings.h"

#include <fmt/format.h>

#include <cmath>

namespace rung {
namespace {

using Warnings = std::vector<std::string>;

void WarnOfLevels(const AshaSpec& spec, const Plan& plan, Warnings& warnings) {
  const std::vector<PlannedLevel>& levels = plan.brackets.front().levels;
  if (levels.empty()) {
    warnings.push_back(fmt::format(
        "grace_period {} is max_t: there is no level below it, so no trial is ever stopped.",
        spec.grace_period));
    return;
  }
  // The last level may lie so close to R that deciding there saves next to nothing.
  const Steps last = levels.back().level;
  if ((spec.max_t - last) * 20 < spec.max_t) {
    warnings.push_back(fmt::format(
        "The last level {} is within 5 % of max_t {}: a trial stopped there saves almost nothing.",
        last, spec.max_t));
  }
}

void WarnOfBracket(const AshaSpec& spec, const PlannedBracket& bracket, int64_t trials,
                   Warnings& warnings) {
  const double expected = bracket.expected_trials;
  if (bracket.levels.empty()) {
    if (expected >= 1) return;
    warnings.push_back(fmt::format(
        "Bracket {}, which has no rung, is expected to get {:.1f} of {} trials: fewer brackets do "
        "the same.",
        bracket.index, expected, trials));
    return;
  }
  // Below η entries a rung cannot single out its best 1/η.
  if (expected < static_cast<double>(spec.reduction_factor)) {
    warnings.push_back(fmt::format(
        "Bracket {} is expected to get {:.1f} of {} trials, fewer than reduction_factor {}: its "
        "rungs hardly ever hold enough values to compare.",
        bracket.index, expected, trials, spec.reduction_factor));
    return;
  }
  if (spec.variant != AshaSpec::Variant::kPromotion) return;
  auto entries = static_cast<int64_t>(std::llround(expected));
  for (size_t i = 0; i < bracket.levels.size(); ++i) {
    const Steps level = bracket.levels[i].level;
    const Steps next = i + 1 < bracket.levels.size() ? bracket.levels[i + 1].level : spec.max_t;
    const int64_t promoted = entries * level / next;  // below 10^6 · 10^12
    if (promoted == 0) {
      warnings.push_back(fmt::format(
          "Bracket {}: with {} of its trials at level {} none has earned level {} (it takes {}): "
          "only at the experiment's end is the best one taken on.",
          bracket.index, entries, level, next, (next + level - 1) / level));
      return;
    }
    entries = promoted;
  }
}

void WarnOfRivals(int64_t min_rivals, int64_t trials, Warnings& warnings) {
  if (min_rivals < trials) return;
  warnings.push_back(fmt::format(
      "min_rivals {} is not below the number of trials {}: no value can ever have that many others "
      "to be compared with, so no trial is stopped.",
      min_rivals, trials));
}

void WarnOfConcurrency(const PlanInput& input, Warnings& warnings) {
  if (!input.trials || !input.concurrent) return;
  if (*input.concurrent > *input.trials) {
    warnings.push_back(
        fmt::format("{} trials can run at once but there are only {}: slots stay idle.",
                    *input.concurrent, *input.trials));
  } else if (*input.concurrent == *input.trials && *input.trials > 1 &&
             !std::holds_alternative<FifoSpec>(input.rule)) {
    warnings.push_back(fmt::format(
        "All {} trials run at once: stopping early frees slots that no trial is left to take.",
        *input.trials));
  }
}

}  // namespace

std::vector<std::string> WarningsOf(const PlanInput& input, const Plan& plan) {
  Warnings warnings;
  if (const auto* asha = std::get_if<AshaSpec>(&input.rule)) {
    WarnOfLevels(*asha, plan, warnings);
    if (input.trials) {
      for (const PlannedBracket& bracket : plan.brackets) {
        WarnOfBracket(*asha, bracket, *input.trials, warnings);
      }
      WarnOfRivals(asha->min_rivals, *input.trials, warnings);
    }
  } else if (const auto* median = std::get_if<MedianSpec>(&input.rule)) {
    if (median->grace_period == median->max_t) {
      warnings.push_back(fmt::format(
          "grace_period {} is max_t: no trial is ever compared with others below it, so none is "
          "stopped.",
          median->grace_period));
    }
    if (input.trials) WarnOfRivals(median->min_rivals, *input.trials, warnings);
  }
  WarnOfConcurrency(input, warnings);
  return warnings;
}

}  // namespace rung
