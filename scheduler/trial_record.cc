#include "scheduler/trial_record.h"

#include <cmath>
#include <utility>

namespace rung {

AttemptRecord::AttemptRecord(AttemptRow attempt_row, Reduce reduce, MonoTime since)
    : row(std::move(attempt_row)), assigned(since), open(reduce, row.processes) {}

std::optional<Steps> AttemptRecord::last_stored_step() const {
  if (stored.empty()) return std::nullopt;
  return stored.rbegin()->first;
}

std::optional<Steps> AttemptRecord::FirstStepAtEnd(const std::string& metric,
                                                   Steps max_step) const {
  for (auto it = stored.lower_bound(max_step); it != stored.end(); ++it) {
    if (it->first > max_step || it->second.contains(metric)) return it->first;
  }
  return std::nullopt;
}

namespace {

bool IsBetter(Goal goal, double value, double than) {
  return goal == Goal::kMaximize ? value > than : value < than;
}

}  // namespace

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
      if (max_step) best = objective.lower_bound(*max_step);
      break;
  }
  row.best_value.reset();
  row.best_step.reset();
  if (best == objective.end() || !std::isfinite(best->second)) return;
  row.best_value = best->second;
  row.best_step = best->first;
}

}  // namespace rung
