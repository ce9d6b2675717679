#include "search/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/counter_random.h"
#include "search/levels.h"

namespace rung {
namespace {

LevelParameters LevelParametersOf(const AshaSpec& spec) {
  return {.max_t = spec.max_t,
          .grace_period = spec.grace_period,
          .reduction_factor = spec.reduction_factor};
}

}  // namespace

absl::StatusOr<Ladder> Ladder::Create(const AshaSpec& spec, int64_t seed) {
  RUNG_RETURN_IF_ERROR(CheckLevelParameters(LevelParametersOf(spec)));
  const int32_t most = HyperbandBrackets(LevelParametersOf(spec));
  if (spec.brackets < 1 || spec.brackets > most) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.asha.brackets: must lie in 1 … {} (the number of levels and one), "
                    "found {}",
                    most, spec.brackets));
  }
  return Ladder(spec, seed);
}

Ladder::Ladder(const AshaSpec& spec, int64_t seed)
    : max_t_(spec.max_t),
      non_finite_(spec.non_finite),
      seed_(seed),
      levels_(RungLevels(LevelParametersOf(spec))) {
  double bound = 0;
  for (const double weight : BracketWeights(spec.brackets, spec.reduction_factor)) {
    bound += weight;
    bracket_bounds_.push_back(bound);
  }
}

int32_t Ladder::BracketOf(TrialNumber trial) const {
  if (brackets() == 1) return 0;
  const double draw =
      CounterRandom({.seed = seed_, .trial = trial, .redraw = 0, .name = "rung.bracket"})
          .NextUnit();
  const auto bound = std::upper_bound(bracket_bounds_.begin(), bracket_bounds_.end(), draw);
  // Rounding may leave the last bound just below 1.
  const auto index = static_cast<size_t>(bound - bracket_bounds_.begin());
  return static_cast<int32_t>(std::min(index, brackets() - 1));
}

size_t Ladder::IndexOf(Steps level) const {
  const auto found = std::lower_bound(levels_.begin(), levels_.end(), level);
  RUNG_CHECK(found != levels_.end() && *found == level);
  return static_cast<size_t>(found - levels_.begin());
}

size_t Ladder::PassedAt(Steps step) const {
  return static_cast<size_t>(std::upper_bound(levels_.begin(), levels_.end(), step) -
                             levels_.begin());
}

Passage Ladder::Pass(Steps step, double value, size_t next) const {
  const bool finite = std::isfinite(value);
  if (!finite && non_finite_ == AshaSpec::NonFinite::kIgnore) {
    return {.skipped_to = next, .entered = std::nullopt, .completed = step > max_t_};
  }
  Passage passage;
  passage.loser = !finite;
  passage.non_finite = !finite && non_finite_ == AshaSpec::NonFinite::kStop;
  passage.completed = step >= max_t_ && !passage.non_finite;
  const size_t passed = std::max(next, PassedAt(step));
  if (passage.completed || (passed == next && !passage.non_finite)) {
    // Where R is nothing is decided below it; and a report between two levels decides nothing.
    passage.skipped_to = passed;
    return passage;
  }
  // Of the levels that a report passes only the highest is decided. A trial that ends by its value
  // without passing one counts in the lowest ahead of it, if there is one.
  passage.skipped_to = passed > next ? passed - 1 : next;
  if (passage.skipped_to < levels_.size()) passage.entered = passage.skipped_to;
  return passage;
}

void EndTrial(const Passage& passage, Verdict& verdict) {
  if (passage.non_finite) {
    verdict.decision = Decision::kStop;
    verdict.reason = "non_finite";
  } else if (passage.completed) {
    verdict.decision = Decision::kStop;
    verdict.reason = "max_t";
    verdict.trial_completed = true;
  }
}

}  // namespace rung
