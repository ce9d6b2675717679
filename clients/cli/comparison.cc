#include "clients/cli/comparison.h"

#include <algorithm>
#include <cmath>

namespace rung::cli {
namespace {

bool NotWorse(double value, double than, bool maximize) {
  return maximize ? value >= than : value <= than;
}

const std::vector<ReportedValue>& ValuesOf(const ExperimentFacts& facts, const std::string& name) {
  static const std::vector<ReportedValue> none;
  const auto found = facts.values.find(name);
  return found == facts.values.end() ? none : found->second;
}

std::optional<double> BestOf(const std::vector<ReportedValue>& values, bool maximize) {
  std::optional<double> best;
  for (const ReportedValue& reported : values) {
    if (!std::isfinite(reported.value)) continue;
    if (!best || NotWorse(reported.value, *best, maximize)) best = reported.value;
  }
  return best;
}

std::optional<double> LastOf(const std::vector<ReportedValue>& values, int32_t trial_number) {
  const ReportedValue* last = nullptr;
  for (const ReportedValue& reported : values) {
    if (reported.trial_number != trial_number || !std::isfinite(reported.value)) continue;
    if (last == nullptr || reported.step >= last->step) last = &reported;
  }
  return last == nullptr ? std::nullopt : std::optional(last->value);
}

std::optional<double> ReachedAfter(const std::vector<ReportedValue>& values, double target,
                                   bool maximize) {
  std::optional<double> first;
  for (const ReportedValue& reported : values) {
    if (!std::isfinite(reported.value) || !NotWorse(reported.value, target, maximize)) continue;
    first = std::min(first.value_or(reported.seconds), reported.seconds);
  }
  return first;
}

MetricOutcome OutcomeOf(const ExperimentFacts& facts, const ComparedMetric& metric,
                        std::optional<double> target) {
  const std::vector<ReportedValue>& values = ValuesOf(facts, metric.name);
  MetricOutcome outcome;
  outcome.best = BestOf(values, metric.maximize);
  if (facts.best_trial.has_value()) outcome.winner_last = LastOf(values, *facts.best_trial);
  const bool objective = metric.name == facts.metric && facts.best_value.has_value();
  const std::optional<double> own = objective ? facts.best_value : outcome.best;
  if (own.has_value()) outcome.best_reached_s = ReachedAfter(values, *own, metric.maximize);
  if (target.has_value()) outcome.reached_s = ReachedAfter(values, *target, metric.maximize);
  return outcome;
}

}  // namespace

Comparison Compare(std::vector<ExperimentFacts> experiments,
                   const std::vector<ComparedMetric>& shown, std::optional<double> price) {
  Comparison comparison;
  comparison.experiments = std::move(experiments);
  comparison.price = price;
  const ExperimentFacts& first = comparison.experiments.front();
  comparison.metrics.push_back({.name = first.metric, .maximize = first.maximize});
  for (const ComparedMetric& metric : shown) {
    if (metric.name != first.metric) comparison.metrics.push_back(metric);
  }
  std::vector<std::optional<double>> targets;
  for (const ComparedMetric& metric : comparison.metrics) {
    targets.push_back(BestOf(ValuesOf(first, metric.name), metric.maximize));
  }
  // With `last` or `max_t` the best that counts is not the best that was ever reported.
  if (first.best_value.has_value()) targets.front() = first.best_value;

  for (const ExperimentFacts& facts : comparison.experiments) {
    ComparisonColumn column;
    for (size_t i = 0; i < comparison.metrics.size(); ++i) {
      column.metrics.push_back(OutcomeOf(facts, comparison.metrics[i], targets[i]));
    }
    column.steps_saved = first.steps_spent - facts.steps_spent;
    if (first.steps_spent > 0) {
      column.steps_saved_fraction =
          static_cast<double>(column.steps_saved) / static_cast<double>(first.steps_spent);
    }
    if (facts.wall_s > 0) column.speed_up = first.wall_s / facts.wall_s;
    if (price.has_value()) {
      column.money = facts.slot_hours * *price;
      column.money_saved = (first.slot_hours - facts.slot_hours) * *price;
    }
    comparison.columns.push_back(std::move(column));
  }
  return comparison;
}

}  // namespace rung::cli
