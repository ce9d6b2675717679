#include "search/asha_stopping.h"

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
  RUNG_RETURN_IF_ERROR(CheckLevelParameters(LevelParametersOf(spec)));
  const int32_t most = HyperbandBrackets(LevelParametersOf(spec));
  if (spec.brackets < 1 || spec.brackets > most) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.asha.brackets: must lie in 1 … {} (the number of levels and one), "
                    "found {}",
                    most, spec.brackets));
  }
  if (spec.min_rivals < 0) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.asha.min_rivals: must be at least 0, found {}", spec.min_rivals));
  }
  return std::unique_ptr<AshaStopping>(new AshaStopping(spec, goal, seed));
}

AshaStopping::AshaStopping(const AshaSpec& spec, Goal goal, int64_t seed)
    : spec_(spec),
      sign_(goal == Goal::kMaximize ? 1.0 : -1.0),
      seed_(seed),
      levels_(RungLevels(LevelParametersOf(spec))),
      rungs_(static_cast<size_t>(spec.brackets), std::vector<RungTable>(levels_.size())) {
  double bound = 0;
  for (const double weight : BracketWeights(spec.brackets, spec.reduction_factor)) {
    bound += weight;
    bracket_bounds_.push_back(bound);
  }
}

int32_t AshaStopping::BracketOf(TrialNumber trial) const {
  if (spec_.brackets == 1) return 0;
  const double draw =
      CounterRandom({.seed = seed_, .trial = trial, .redraw = 0, .name = "rung.bracket"})
          .NextUnit();
  const auto bound = std::upper_bound(bracket_bounds_.begin(), bracket_bounds_.end(), draw);
  // Rounding may leave the last bound just below 1.
  return std::min(static_cast<int32_t>(bound - bracket_bounds_.begin()), spec_.brackets - 1);
}

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
  const bool finite = std::isfinite(report.value);
  const Verdict completed = {
      .decision = Decision::kStop, .reason = "max_t", .records = {}, .trial_completed = true};
  if (!finite && spec_.non_finite == AshaSpec::NonFinite::kIgnore) {
    return report.step > spec_.max_t ? completed : Verdict{};
  }
  const bool ends_by_value = !finite && spec_.non_finite == AshaSpec::NonFinite::kStop;
  const bool at_end = report.step >= spec_.max_t && !ends_by_value;

  const size_t next = progress.next_level;
  const size_t passed = std::max(
      next, static_cast<size_t>(std::upper_bound(levels_.begin(), levels_.end(), report.step) -
                                levels_.begin()));
  // Of the levels that this report passes only the highest is decided, and none where R is.
  const size_t decided = at_end ? passed : passed - (passed > next ? 1 : 0);

  Verdict verdict = at_end ? completed : Verdict{};
  for (size_t level = next; level < decided; ++level) {
    verdict.records.push_back(Skipped({bracket, level, report}));
  }
  if (ends_by_value) {
    // It counts in the highest level passed, else in the lowest not yet passed, if there is one.
    if (decided < levels_.size()) verdict.records.push_back(Loser({bracket, decided, report}));
    verdict.decision = Decision::kStop;
    verdict.reason = "non_finite";
  } else if (decided < passed) {
    verdict.records.push_back(finite ? Judged({bracket, decided, report})
                                     : Loser({bracket, decided, report}));
    const DecisionRecord& last = verdict.records.back();
    if (last.decision == ToString(Decision::kStop)) {
      verdict.decision = Decision::kStop;
      verdict.reason = last.reason;
    }
  }
  for (const DecisionRecord& record : verdict.records) Apply(record);
  return verdict;
}

DecisionRecord AshaStopping::Row(const Passage& passage) {
  const RungTable& rung = RungOf(passage.bracket, passage.level);
  return {.bracket = passage.bracket,
          .level = levels_[passage.level],
          .trial = passage.report.trial,
          .step = passage.report.step,
          .value = passage.report.value,
          .n_before = rung.finite(),
          .entries = rung.entries(),
          .rank = std::nullopt,
          .cutoff = std::nullopt,
          .rule = RuleName(spec_.cut),
          .decision = {},
          .reason = {}};
}

DecisionRecord AshaStopping::Skipped(const Passage& passage) {
  DecisionRecord row = Row(passage);
  row.decision = "skipped";
  return row;
}

DecisionRecord AshaStopping::Loser(const Passage& passage) {
  DecisionRecord row = Row(passage);
  ++row.entries;
  row.decision = ToString(Decision::kStop);
  row.reason = "non_finite";
  return row;
}

DecisionRecord AshaStopping::Judged(const Passage& passage) {
  const RungTable& rung = RungOf(passage.bracket, passage.level);
  const double value = sign_ * passage.report.value;
  DecisionRecord row = Row(passage);
  ++row.entries;
  row.rank = rung.BetterThan(value, passage.report.trial) + 1;
  row.decision = ToString(Decision::kContinue);
  if (row.n_before == 0) {
    row.reason = "no_rivals";
    return row;
  }
  const double cutoff = Cutoff(rung, value, passage.report.trial);
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
  // The k-th best of the earlier values and this one, which stands in place `place` from 0.
  const int64_t place = rung.BetterThan(value, trial);
  if (place == k - 1) return value;
  return rung.FromBest(place < k - 1 ? k - 2 : k - 1);
}

void AshaStopping::Apply(const DecisionRecord& record) {
  const auto found = std::lower_bound(levels_.begin(), levels_.end(), record.level);
  RUNG_CHECK(found != levels_.end() && *found == record.level);
  const auto level = static_cast<size_t>(found - levels_.begin());
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
