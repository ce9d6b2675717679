#include "search/asha_stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"

namespace rung {
namespace {

std::string RuleName(AshaSpec::Cut cut) {
  switch (cut) {
    case AshaSpec::Cut::kQuantile:
      return "asha.stopping.quantile";
    case AshaSpec::Cut::kTop:
      return "asha.stopping.top";
  }
  return {};
}

}  // namespace

absl::StatusOr<std::unique_ptr<AshaStopping>> AshaStopping::Create(const AshaSpec& spec, Goal goal,
                                                                   int64_t seed) {
  RUNG_CHECK(spec.variant == AshaSpec::Variant::kStopping);
  absl::StatusOr<Ladder> ladder = Ladder::Create(spec, seed);
  if (!ladder.ok()) return ladder.status();
  if (spec.min_rivals < 0) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.asha.min_rivals: must be at least 0, found {}", spec.min_rivals));
  }
  return std::unique_ptr<AshaStopping>(new AshaStopping(spec, goal, *std::move(ladder)));
}

AshaStopping::AshaStopping(const AshaSpec& spec, Goal goal, Ladder ladder)
    : spec_(spec),
      sign_(goal == Goal::kMaximize ? 1.0 : -1.0),
      ladder_(std::move(ladder)),
      rungs_(ladder_.brackets(), std::vector<RungTable>(ladder_.levels().size())) {}

AshaStopping::Progress AshaStopping::ProgressOf(TrialNumber trial, int32_t bracket) const {
  const auto found = trials_.find(trial.value);
  if (found != trials_.end()) return found->second;
  return {.next_level = static_cast<size_t>(bracket)};
}

RungTable& AshaStopping::RungOf(int32_t bracket, size_t level) {
  return rungs_.at(static_cast<size_t>(bracket)).at(level);
}

Verdict AshaStopping::OnReport(const RuleReport& report) {
  const int32_t bracket = BracketOf(report.trial);
  const Progress progress = ProgressOf(report.trial, bracket);
  if (progress.stopped) {
    return {.decision = Decision::kStop,
            .reason = progress.non_finite ? "non_finite" : "below_cutoff",
            .records = {}};
  }
  const Passage passage = ladder_.Pass(report.step, report.value, progress.next_level);
  Verdict verdict;
  for (size_t level = progress.next_level; level < passage.skipped_to; ++level) {
    verdict.records.push_back(Skipped({bracket, level, report}));
  }
  if (passage.entered) {
    const Place place{bracket, *passage.entered, report};
    verdict.records.push_back(passage.loser ? Loser(place) : Judged(place));
    if (verdict.records.back().decision == ToString(Decision::kStop)) {
      verdict.decision = Decision::kStop;
      verdict.reason = verdict.records.back().reason;
    }
  }
  EndTrial(passage, verdict);
  for (const DecisionRecord& record : verdict.records) Apply(record);
  return verdict;
}

DecisionRecord AshaStopping::Row(const Place& place) {
  const RungTable& rung = RungOf(place.bracket, place.level);
  return {.bracket = place.bracket,
          .level = ladder_.levels()[place.level],
          .trial = place.report.trial,
          .step = place.report.step,
          .value = place.report.value,
          .n_before = rung.finite(),
          .entries = rung.entries(),
          .rank = std::nullopt,
          .cutoff = std::nullopt,
          .rule = RuleName(spec_.cut),
          .decision = {},
          .reason = {}};
}

DecisionRecord AshaStopping::Skipped(const Place& place) {
  DecisionRecord row = Row(place);
  row.decision = "skipped";
  return row;
}

DecisionRecord AshaStopping::Loser(const Place& place) {
  DecisionRecord row = Row(place);
  ++row.entries;
  row.decision = ToString(Decision::kStop);
  row.reason = "non_finite";
  return row;
}

DecisionRecord AshaStopping::Judged(const Place& place) {
  const RungTable& rung = RungOf(place.bracket, place.level);
  const double value = sign_ * place.report.value;
  DecisionRecord row = Row(place);
  ++row.entries;
  row.rank = rung.BetterThan(value, place.report.trial) + 1;
  row.decision = ToString(Decision::kContinue);
  if (row.n_before == 0) {
    row.reason = "no_rivals";
    return row;
  }
  const double cutoff = Cutoff(rung, value, place.report.trial);
  row.cutoff = sign_ * cutoff;
  if (row.n_before < spec_.min_rivals) {
    row.reason = "few_rivals";
  } else if (value < cutoff) {
    row.decision = ToString(Decision::kStop);
    row.reason = "below_cutoff";
  } else if (value == cutoff) {
    row.reason = "equal_to_cutoff";
  }
  return row;
}

double AshaStopping::Cutoff(const RungTable& rung, double value, TrialNumber trial) const {
  switch (spec_.cut) {
    case AshaSpec::Cut::kQuantile:
      return QuantileOf(rung);
    case AshaSpec::Cut::kTop:
      return TopOf(rung, value, trial);
  }
  return QuantileOf(rung);
}

double AshaStopping::QuantileOf(const RungTable& rung) const {
  // The order of these operations is numpy.nanpercentile's; any other differs in the last bit at
  // ties. Built without fused multiply-add.
  const int64_t n = rung.finite();
  const double fraction = (1 - 1 / static_cast<double>(spec_.reduction_factor)) * 100 / 100;
  const double h = static_cast<double>(n - 1) * fraction;
  const auto i = static_cast<int64_t>(std::floor(h));
  const double f = h - std::floor(h);
  const double a = rung.FromWorst(i);
  const double b = rung.FromWorst(std::min(i + 1, n - 1));
  if (!std::isfinite(b - a)) return a * (1 - f) + b * f;  // values near ±1e308
  return f < 0.5 ? a + (b - a) * f : b - (b - a) * (1 - f);
}

double AshaStopping::TopOf(const RungTable& rung, double value, TrialNumber trial) const {
  const int64_t n = rung.finite() + 1;
  const int64_t k = std::max<int64_t>(1, n / spec_.reduction_factor);
  // The k-th best of the earlier values and this one, which `before` of them beat.
  const int64_t before = rung.BetterThan(value, trial);
  if (before == k - 1) return value;
  return rung.FromBest(before < k - 1 ? k - 2 : k - 1);
}

void AshaStopping::Apply(const DecisionRecord& record) {
  const size_t level = ladder_.IndexOf(record.level);
  const double value = sign_ * record.value;

  Progress progress = ProgressOf(record.trial, record.bracket);
  progress.next_level = level + 1;
  if (record.decision != "skipped") {
    RungTable& rung = RungOf(record.bracket, level);
    const bool finite = std::isfinite(value);
    if (finite) {
      rung.Insert(value, record.trial);
    } else {
      rung.InsertLoser();
    }
    progress.stopped = record.decision == ToString(Decision::kStop);
    progress.non_finite = !finite;
  }
  trials_[record.trial.value] = progress;
}

void AshaStopping::Restore(std::span<const DecisionRecord> records) {
  for (const DecisionRecord& record : records) Apply(record);
}

}  // namespace rung
