#include "scheduler/trial_record.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace rung {

namespace {

bool IsBetter(Goal goal, double value, double than) {
  return goal == Goal::kMaximize ? value > than : value < than;
}

/// Whether a trial that reports this value at R has reached it: a non-finite one is passed over
/// (`ignore`, median) or ends the trial in another way (`stop`), unless it counts as the worst.
bool ReachesEnd(const ExperimentSpec& spec, double value) {
  const auto* asha = std::get_if<AshaSpec>(&spec.scheduler);
  return std::isfinite(value) ||
         (asha != nullptr && asha->non_finite == AshaSpec::NonFinite::kWorst);
}

}  // namespace

AttemptRecord::AttemptRecord(AttemptRow attempt_row, Reduce reduce)
    : row(std::move(attempt_row)), open(reduce, row.processes) {}

double AttemptRecord::HeldSeconds(WallTime now) const {
  return std::max(0.0, static_cast<double>(now.us - row.started.us) / 1e6);
}

std::optional<Steps> AttemptRecord::last_stored_step() const {
  if (stored.empty()) return std::nullopt;
  return stored.rbegin()->first;
}

std::optional<Steps> AttemptRecord::FirstStepAtEnd(const ExperimentSpec& spec,
                                                   Steps max_step) const {
  const auto end = stored.find(max_step);
  if (end != stored.end()) {
    const auto objective = end->second.find(spec.metric);
    if (objective != end->second.end() && ReachesEnd(spec, objective->second)) return max_step;
  }
  const auto beyond = stored.upper_bound(max_step);
  if (beyond == stored.end()) return std::nullopt;
  return beyond->first;
}

void TrialRecord::AddObjective(Steps step, double value, const ExperimentSpec& spec,
                               std::optional<Steps> max_step) {
  objective[step] = value;
  if (spec.best_by != BestBy::kBest) {
    FindBest(spec, max_step);
  } else if (std::isfinite(value) &&
             (!row.best_value || IsBetter(spec.goal, value, *row.best_value))) {
    row.best_value = value;
    row.best_step = step;
  }
}

void TrialRecord::SupersedeAfter(Steps step, const ExperimentSpec& spec,
                                 std::optional<Steps> max_step) {
  objective.erase(objective.upper_bound(step), objective.end());
  FindBest(spec, max_step);
}

void TrialRecord::FindBest(const ExperimentSpec& spec, std::optional<Steps> max_step) {
  auto best = objective.end();
  switch (spec.best_by) {
    case BestBy::kBest:
      for (auto it = objective.begin(); it != objective.end(); ++it) {
        if (!std::isfinite(it->second)) continue;
        if (best == objective.end() || IsBetter(spec.goal, it->second, best->second)) best = it;
      }
      break;
    case BestBy::kLast:
      if (!objective.empty()) best = std::prev(objective.end());
      break;
    case BestBy::kMaxT:
      if (!max_step) break;
      best = objective.lower_bound(*max_step);
      if (best != objective.end() && best->first == *max_step && !ReachesEnd(spec, best->second)) {
        ++best;
      }
      break;
  }
  row.best_value.reset();
  row.best_step.reset();
  if (best == objective.end() || !std::isfinite(best->second)) return;
  row.best_value = best->second;
  row.best_step = best->first;
}

}  // namespace rung
