#include "search/median_stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace rung {
namespace {

double MedianOf(const RungTable& means) {
  const int64_t n = means.finite();
  return std::midpoint(means.FromWorst((n - 1) / 2), means.FromWorst(n / 2));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MedianStopping>> MedianStopping::Create(const MedianSpec& spec,
                                                                       Goal goal) {
  if (spec.grace_period < 1) {
    return absl::InvalidArgumentError(fmt::format(
        "scheduler.median.grace_period: must be at least 1, found {}", spec.grace_period));
  }
  if (spec.max_t && *spec.max_t < spec.grace_period) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.median.grace_period: must be at most max_t, which is {}, found {}",
                    *spec.max_t, spec.grace_period));
  }
  if (spec.min_rivals < 1) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.median.min_rivals: must be at least 1, found {}", spec.min_rivals));
  }
  return std::unique_ptr<MedianStopping>(new MedianStopping(spec, goal));
}

MedianStopping::MedianStopping(const MedianSpec& spec, Goal goal)
    : spec_(spec), sign_(goal == Goal::kMaximize ? 1.0 : -1.0) {}

Verdict MedianStopping::OnReport(const RuleReport& report) {
  const Progress& before = trials_[report.trial.value];
  Verdict verdict;
  if (before.stopped) {
    Observe(report);
    verdict.decision = Decision::kStop;
    verdict.reason = "below_median";
    return verdict;
  }
  if (Counts(report) && report.step > before.last_step) {
    const double value = sign_ * report.value;
    const double best = std::max(value, before.best.value_or(value));
    if (auto record = Judge(report, best)) {
      verdict.decision = Decision::kStop;
      verdict.reason = record->reason;
      verdict.records.push_back(*std::move(record));
    }
  }
  Observe(report);
  Restore(verdict.records);
  // As a report without the objective, a value that is not finite ends the trial beyond R alone.
  const Steps end = std::isfinite(report.value) ? report.step : report.step - 1;
  if (spec_.max_t && end >= *spec_.max_t) {
    verdict.decision = Decision::kStop;
    verdict.reason = "max_t";
    verdict.trial_completed = true;
  }
  return verdict;
}

bool MedianStopping::Counts(const RuleReport& report) const {
  return std::isfinite(report.value) && (!spec_.max_t || report.step < *spec_.max_t);
}

std::optional<DecisionRecord> MedianStopping::Judge(const RuleReport& report, double best) const {
  const auto means = means_.find(report.step);
  if (report.step < spec_.grace_period || means == means_.end()) return std::nullopt;
  const int64_t rivals = means->second.finite();
  if (rivals < spec_.min_rivals) return std::nullopt;
  const double median = MedianOf(means->second);
  if (!(best < median)) return std::nullopt;
  return DecisionRecord{.bracket = 0,
                        .level = report.step,
                        .trial = report.trial,
                        .step = report.step,
                        .value = sign_ * best,
                        .n_before = rivals,
                        .entries = rivals + 1,
                        .rank = means->second.BetterThan(best, report.trial) + 1,
                        .cutoff = sign_ * median,
                        .rule = "median",
                        .decision = std::string(ToString(Decision::kStop)),
                        .reason = "below_median"};
}

void MedianStopping::Observe(const RuleReport& report) {
  Progress& trial = trials_[report.trial.value];
  if (!Counts(report) || report.step <= trial.last_step) return;
  const double value = sign_ * report.value;
  trial.last_step = report.step;
  trial.best = std::max(value, trial.best.value_or(value));
  if (report.step < spec_.grace_period) return;
  trial.sum += value;
  ++trial.count;
  means_[report.step].Insert(trial.sum / static_cast<double>(trial.count), report.trial);
}

void MedianStopping::Restore(std::span<const DecisionRecord> records) {
  for (const DecisionRecord& record : records) trials_[record.trial.value].stopped = true;
}

}  // namespace rung
