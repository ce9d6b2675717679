#include "search/plan.h"

#include <utility>

#include "core/check.h"
#include "search/levels.h"
#include "search/plan_warnings.h"

namespace rung {
namespace {

/// The share of a rung that goes on from `level`: the best 1/η; from the last rung of `promotion`
/// the fraction level / R.
double ShareBeyond(const AshaSpec& spec, Steps level, bool last) {
  if (last && spec.variant == AshaSpec::Variant::kPromotion) {
    return static_cast<double>(level) / static_cast<double>(spec.max_t);
  }
  return 1 / static_cast<double>(spec.reduction_factor);
}

/// Fills in the bracket's expected numbers but for that of its trials.
void Expect(const AshaSpec& spec, PlannedBracket& bracket) {
  double trials = bracket.expected_trials;
  Steps reached = 0;
  for (PlannedLevel& level : bracket.levels) {
    level.expected_trials = trials;
    level.expected_steps = trials * static_cast<double>(level.level - reached);
    bracket.expected_steps += level.expected_steps;
    reached = level.level;
    trials *= ShareBeyond(spec, reached, &level == &bracket.levels.back());
  }
  bracket.expected_completed = trials;
  bracket.expected_steps += trials * static_cast<double>(spec.max_t - reached);
}

Plan AshaPlan(const AshaSpec& spec, double trials) {
  Plan plan;
  plan.max_step = spec.max_t;
  plan.full_steps = trials * static_cast<double>(spec.max_t);
  plan.expected_steps = 0;
  const std::vector<Steps> levels = RungLevels({.max_t = spec.max_t,
                                                .grace_period = spec.grace_period,
                                                .reduction_factor = spec.reduction_factor});
  const std::vector<double> weights = BracketWeights(spec.brackets, spec.reduction_factor);
  for (size_t s = 0; s < weights.size(); ++s) {
    PlannedBracket bracket;
    bracket.index = static_cast<int32_t>(s);
    bracket.weight = weights[s];
    bracket.expected_trials = trials * weights[s];
    for (size_t level = s; level < levels.size(); ++level) {
      bracket.levels.push_back({.level = levels[level]});
    }
    Expect(spec, bracket);
    *plan.expected_steps += bracket.expected_steps;
    plan.brackets.push_back(std::move(bracket));
  }
  return plan;
}

}  // namespace

absl::StatusOr<Plan> MakePlan(const PlanInput& input) {
  RUNG_RETURN_IF_ERROR(MakeStoppingRule(input.rule, Goal::kMaximize, /*seed=*/0).status());
  const double trials = static_cast<double>(input.trials.value_or(0));
  Plan plan;
  if (const auto* asha = std::get_if<AshaSpec>(&input.rule)) {
    plan = AshaPlan(*asha, trials);
  } else if (const auto* median = std::get_if<MedianSpec>(&input.rule); median && median->max_t) {
    plan.max_step = median->max_t;
    plan.full_steps = trials * static_cast<double>(*median->max_t);
  }
  plan.warnings = WarningsOf(input, plan);
  return plan;
}

}  // namespace rung
