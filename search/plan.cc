#include "search/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "search/levels.h"

namespace rung {
namespace {

/// Fills the bracket's expected numbers and returns the steps that its trials are expected to take.
double FillBracket(const AshaSpec& spec, PlannedBracket& bracket) {
  double trials = bracket.expected_trials;
  double steps = 0;
  Steps reached = 0;
  for (PlannedLevel& level : bracket.levels) {
    level.expected_trials = trials;
    steps += trials * static_cast<double>(level.level - reached);
    reached = level.level;
    trials /= static_cast<double>(spec.reduction_factor);
  }
  bracket.expected_completed = trials;
  return steps + trials * static_cast<double>(spec.max_t - reached);
}

void WarnOfLevels(const AshaSpec& spec, Plan& plan) {
  const std::vector<PlannedLevel>& levels = plan.brackets.front().levels;
  if (levels.empty()) {
    plan.warnings.push_back(fmt::format(
        "grace_period {} is max_t: there is no level below it, so no trial is ever stopped.",
        spec.grace_period));
    return;
  }
  // The last level may lie so close to R that deciding there saves next to nothing.
  const Steps last = levels.back().level;
  if ((spec.max_t - last) * 20 < spec.max_t) {
    plan.warnings.push_back(fmt::format(
        "The last level {} is within 5 % of max_t {}: a trial stopped there saves almost nothing.",
        last, spec.max_t));
  }
}

void WarnOfTrials(const AshaSpec& spec, int64_t trials, Plan& plan) {
  for (const PlannedBracket& bracket : plan.brackets) {
    if (bracket.levels.empty()) continue;
    // Below η entries a rung cannot single out its best 1/η.
    if (bracket.expected_trials < static_cast<double>(spec.reduction_factor)) {
      plan.warnings.push_back(fmt::format(
          "Bracket {} is expected to get {:.1f} of {} trials, fewer than reduction_factor {}: its "
          "rungs hardly ever hold enough values to compare.",
          bracket.index, bracket.expected_trials, trials, spec.reduction_factor));
    }
  }
  if (spec.min_rivals >= trials) {
    plan.warnings.push_back(fmt::format(
        "min_rivals {} is not below the number of trials {}: no rung can ever hold that many "
        "earlier values, so no trial is stopped.",
        spec.min_rivals, trials));
  }
}

void WarnOfConcurrency(const PlanInput& input, Plan& plan) {
  if (!input.trials || !input.concurrent) return;
  if (*input.concurrent > *input.trials) {
    plan.warnings.push_back(
        fmt::format("{} trials can run at once but there are only {}: slots stay idle.",
                    *input.concurrent, *input.trials));
  } else if (*input.concurrent == *input.trials && *input.trials > 1 &&
             std::holds_alternative<AshaSpec>(input.rule)) {
    plan.warnings.push_back(fmt::format(
        "All {} trials run at once: stopping early frees slots that no trial is left to take.",
        *input.trials));
  }
}

}  // namespace

absl::StatusOr<Plan> MakePlan(const PlanInput& input) {
  Plan plan;
  const double trials = static_cast<double>(input.trials.value_or(0));
  const auto* asha = std::get_if<AshaSpec>(&input.rule);
  if (asha == nullptr) {
    plan.brackets.push_back({.index = 0,
                             .weight = 1,
                             .expected_trials = trials,
                             .levels = {},
                             .expected_completed = trials});
    WarnOfConcurrency(input, plan);
    return plan;
  }
  RUNG_RETURN_IF_ERROR(MakeStoppingRule(input.rule, Goal::kMaximize, /*seed=*/0).status());

  const std::vector<Steps> levels = RungLevels({.max_t = asha->max_t,
                                                .grace_period = asha->grace_period,
                                                .reduction_factor = asha->reduction_factor});
  const std::vector<double> weights = BracketWeights(asha->brackets, asha->reduction_factor);
  plan.max_step = asha->max_t;
  plan.full_steps = trials * static_cast<double>(asha->max_t);
  for (size_t s = 0; s < weights.size(); ++s) {
    PlannedBracket bracket{.index = static_cast<int32_t>(s),
                           .weight = weights[s],
                           .expected_trials = trials * weights[s],
                           .levels = {},
                           .expected_completed = 0};
    for (size_t level = s; level < levels.size(); ++level) {
      bracket.levels.push_back({.level = levels[level], .expected_trials = 0});
    }
    plan.expected_steps += FillBracket(*asha, bracket);
    plan.brackets.push_back(std::move(bracket));
  }
  WarnOfLevels(*asha, plan);
  if (input.trials) WarnOfTrials(*asha, *input.trials, plan);
  WarnOfConcurrency(input, plan);
  return plan;
}

}  // namespace rung
