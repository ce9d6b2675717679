#include "bench/budget_plan.h"

#include <utility>

#include "bench/quality_rules.h"

namespace rung {
namespace {

BudgetPlan Spend(const QualityData& data, const QualitySetting& setting) {
  const std::string rule = setting.grace_period < setting.max_t ? kQuantile : kFifo;
  BudgetPlan plan{.grace_period = setting.grace_period,
                  .trials = setting.trials,
                  .total_steps = 0,
                  .seeds = data.RunAll(setting, MakerOf(rule, setting))};
  for (const SeedQuality& seed : plan.seeds) plan.total_steps += seed.steps;
  return plan;
}

}  // namespace

BudgetPlan SpendBudget(const QualityData& data, const Budget& budget, Steps grace_period) {
  QualitySetting setting{.benchmark = budget.benchmark,
                         .max_t = budget.max_t,
                         .grace_period = grace_period,
                         .trials = 1,
                         .workers = 4};
  BudgetPlan best = Spend(data, setting);
  int32_t too_many = 257;
  while (best.trials + 1 < too_many) {
    setting.trials = (best.trials + too_many) / 2;
    BudgetPlan plan = Spend(data, setting);
    if (plan.total_steps <= budget.steps * static_cast<int64_t>(plan.seeds.size())) {
      best = std::move(plan);
    } else {
      too_many = setting.trials;
    }
  }
  return best;
}

}  // namespace rung
