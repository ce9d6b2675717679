#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/quality_experiment.h"

/// How a budget of steps is spent: on many configurations that are judged early, or on fewer that
/// are judged late.
namespace rung {

struct Budget {
  std::string benchmark;
  Steps max_t = 0;
  int64_t steps = 0;  ///< of one experiment, in the mean over the seeds
};

struct BudgetPlan {
  Steps grace_period = 0;   ///< R: no stopping, which is random search
  int32_t trials = 0;       ///< the most that the budget allows, at most 256
  int64_t total_steps = 0;  ///< over all seeds
  std::vector<SeedQuality> seeds;
};

/// The default rule with η = 3 and 4 workers, or no stopping where r = R.
BudgetPlan SpendBudget(const QualityData& data, const Budget& budget, Steps grace_period);

}  // namespace rung
