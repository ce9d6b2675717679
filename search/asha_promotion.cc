#include "search/asha_promotion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"

namespace rung {

absl::StatusOr<std::unique_ptr<AshaPromotion>> AshaPromotion::Create(const AshaSpec& spec,
                                                                     Goal goal, int64_t seed) {
  RUNG_CHECK(spec.variant == AshaSpec::Variant::kPromotion);
  absl::StatusOr<Ladder> ladder = Ladder::Create(spec, seed);
  if (!ladder.ok()) return ladder.status();
  if (spec.cut != AshaSpec::Cut::kQuantile) {
    return absl::InvalidArgumentError(
        "scheduler.asha.cut: variant \"promotion\" has no cut, found \"top\"; leave it out, or set "
        "\"variant\": \"stopping\"");
  }
  if (spec.min_rivals != 0) {
    return absl::InvalidArgumentError(
        fmt::format("scheduler.asha.min_rivals: must be 0 with variant \"promotion\", which stops "
                    "nobody, found "
                    "{}; leave it out, or set \"variant\": \"stopping\"",
                    spec.min_rivals));
  }
  return std::unique_ptr<AshaPromotion>(new AshaPromotion(spec, goal, *std::move(ladder)));
}

AshaPromotion::AshaPromotion(const AshaSpec& spec, Goal goal, Ladder ladder)
    : max_t_(spec.max_t),
      sign_(goal == Goal::kMaximize ? 1.0 : -1.0),
      ladder_(std::move(ladder)),
      rungs_(ladder_.brackets(), std::vector<PromotionRung>(ladder_.levels().size())) {}

AshaPromotion::Progress AshaPromotion::ProgressOf(TrialNumber trial) const {
  const auto found = trials_.find(trial.value);
  if (found != trials_.end()) return found->second;
  return {.next_level = static_cast<size_t>(BracketOf(trial))};
}

AshaPromotion::RungIndex AshaPromotion::RungOf(TrialNumber trial, const Progress& progress) const {
  return {static_cast<size_t>(BracketOf(trial)), progress.next_level - 1};
}

Verdict AshaPromotion::OnReport(const RuleReport& report) {
  const Progress progress = ProgressOf(report.trial);
  switch (progress.standing) {
    case Standing::kStopped:
      return {.decision = Decision::kStop, .reason = "non_finite", .records = {}};
    case Standing::kOver:
      return {.decision = Decision::kStop, .reason = "", .records = {}};
    case Standing::kWaiting:
      KeepLate(report, progress);
      return {.decision = Decision::kPause, .reason = "", .records = {}};
    case Standing::kLoser:
      return {.decision = Decision::kPause, .reason = "non_finite", .records = {}};
    case Standing::kRunning:
      break;
  }
  const auto bracket = static_cast<size_t>(BracketOf(report.trial));
  const Passage passage = ladder_.Pass(report.step, report.value, progress.next_level);
  Verdict verdict;
  for (size_t level = progress.next_level; level < passage.skipped_to; ++level) {
    DecisionRecord row = Row(report, {bracket, level});
    row.decision = "skipped";
    verdict.records.push_back(std::move(row));
  }
  if (passage.entered) {
    verdict.records.push_back(EntryRow(report, {bracket, *passage.entered}, passage));
    verdict.decision = Decision::kPause;
    verdict.reason = verdict.records.back().reason;
  }
  EndTrial(passage, verdict);
  for (const DecisionRecord& record : verdict.records) Apply(record);
  return verdict;
}

/// Keeps the first report at or past each level ahead and R; any other decides nothing.
void AshaPromotion::KeepLate(const RuleReport& report, const Progress& progress) {
  const auto found = late_.find(report.trial.value);
  const Steps last = found == late_.end() ? 0 : found->second.back().step;
  const size_t next = std::max(progress.next_level, ladder_.PassedAt(last));
  const bool passes = ladder_.PassedAt(report.step) > next || report.step >= max_t_;
  const Passage passage = ladder_.Pass(report.step, report.value, next);
  const bool decides = passage.entered || passage.non_finite || passage.completed;
  if (passes && decides && last < max_t_) late_[report.trial.value].push_back(report);
}

DecisionRecord AshaPromotion::Row(const RuleReport& report, RungIndex index) const {
  const PromotionRung& rung = RungAt(index);
  return {.bracket = static_cast<int32_t>(index.bracket),
          .level = ladder_.levels()[index.level],
          .trial = report.trial,
          .step = report.step,
          .value = report.value,
          .n_before = rung.finite(),
          .entries = rung.entries(),
          .rank = std::nullopt,
          .cutoff = std::nullopt,
          .rule = "asha.promotion",
          .decision = {},
          .reason = {}};
}

DecisionRecord AshaPromotion::EntryRow(const RuleReport& report, RungIndex index,
                                       const Passage& passage) const {
  DecisionRecord row = Row(report, index);
  ++row.entries;
  row.decision = ToString(passage.non_finite ? Decision::kStop : Decision::kPause);
  if (passage.loser) {
    row.reason = "non_finite";
    return row;
  }
  const double value = sign_ * report.value;
  const PromotionRung& rung = RungAt(index);
  row.rank = rung.BetterThan(value, report.trial) + 1;
  const bool among_top =
      rung.EligibleBetterThan(value, report.trial) < QuotaOf(index.level, row.entries);
  row.reason = among_top ? "awaits_resources" : "below_top";
  return row;
}

DecisionRecord AshaPromotion::GrantRow(TrialNumber trial, const char* reason) const {
  const Progress progress = ProgressOf(trial);
  RUNG_CHECK(progress.standing == Standing::kWaiting);  // only a paused trial can be promoted
  const RungIndex index = RungOf(trial, progress);
  DecisionRecord row = Row({trial, progress.step, sign_ * progress.value}, index);
  --row.n_before;
  row.rank = RungAt(index).BetterThan(progress.value, trial) + 1;
  row.decision = "promote";
  row.reason = reason;
  return row;
}

Verdict AshaPromotion::Promote(TrialNumber trial, Grant grant) {
  Verdict verdict;
  verdict.records.push_back(GrantRow(trial, grant == Grant::kEarned ? "promoted" : "drain"));
  Apply(verdict.records.back());
  auto late = late_.extract(trial.value);
  if (late.empty()) return verdict;

  std::vector<RuleReport>& reports = late.mapped();
  Verdict judged = OnReport(reports.front());
  judged.records.insert(judged.records.begin(), std::move(verdict.records.front()));
  reports.erase(reports.begin());
  const bool waits_again = judged.decision == Decision::kPause;
  if (waits_again && !reports.empty()) late_.insert(std::move(late));
  return judged;
}

void AshaPromotion::PromoteOnArrival(Grant grant, Verdict& paused) {
  RUNG_CHECK(paused.decision == Decision::kPause && !paused.records.empty());
  DecisionRecord& entry = paused.records.back();
  paused.decision = Decision::kContinue;
  paused.reason = grant == Grant::kEarned ? "promoted_on_arrival" : "drain";
  entry.decision = ToString(Decision::kContinue);
  entry.reason = paused.reason;
  paused.records.push_back(GrantRow(entry.trial, paused.reason.c_str()));
  Apply(paused.records.back());
}

int64_t AshaPromotion::QuotaOf(size_t level, int64_t entries) const {
  const std::vector<Steps>& levels = ladder_.levels();
  const Steps next = level + 1 < levels.size() ? levels[level + 1] : max_t_;
  __extension__ using Wide = unsigned __int128;  // steps reach 10¹²: the product may not fit in 64
  return static_cast<int64_t>(static_cast<Wide>(entries) * static_cast<Wide>(levels[level]) /
                              static_cast<Wide>(next));
}

std::optional<AshaPromotion::RungIndex> AshaPromotion::FirstRung() const {
  if (ladder_.levels().empty()) return std::nullopt;
  return RungIndex{0, ladder_.levels().size() - 1};
}

/// The highest level first, then the lower bracket; bracket s has the levels from s on.
std::optional<AshaPromotion::RungIndex> AshaPromotion::RungBehind(RungIndex index) const {
  if (index.bracket + 1 < ladder_.brackets() && index.bracket + 1 <= index.level) {
    return RungIndex{index.bracket + 1, index.level};
  }
  if (index.level == 0) return std::nullopt;
  return RungIndex{0, index.level - 1};
}

bool AshaPromotion::IsAmongTop(RungIndex index, TrialNumber trial) const {
  const PromotionRung& rung = RungAt(index);
  return rung.EligibleBetterThan(trials_.at(trial.value).value, trial) <
         QuotaOf(index.level, rung.entries());
}

std::optional<TrialNumber> AshaPromotion::NextPromotion(std::optional<TrialNumber> after) const {
  std::optional<RungIndex> index = FirstRung();
  if (after) {
    const Progress progress = ProgressOf(*after);
    index = RungOf(*after, progress);
    const auto next = RungAt(*index).BestWaitingBehind(progress.value, *after);
    if (next && IsAmongTop(*index, *next)) return next;
    index = RungBehind(*index);
  }
  for (; index; index = RungBehind(*index)) {
    const std::optional<TrialNumber> best = RungAt(*index).BestWaiting();
    if (best && IsAmongTop(*index, *best)) return best;
  }
  return std::nullopt;
}

std::optional<TrialNumber> AshaPromotion::NextDrain() const {
  for (std::optional<RungIndex> index = FirstRung(); index; index = RungBehind(*index)) {
    if (const std::optional<TrialNumber> best = RungAt(*index).BestWaiting()) return best;
  }
  return std::nullopt;
}

void AshaPromotion::OnTrialEnded(TrialNumber trial, TrialState state) {
  if (state != TrialState::kFailed && state != TrialState::kCancelled) return;
  Progress progress = ProgressOf(trial);
  if (progress.standing == Standing::kWaiting) {
    RungAt(RungOf(trial, progress)).Disqualify(progress.value, trial);
  }
  progress.standing = Standing::kOver;
  trials_[trial.value] = progress;
  late_.erase(trial.value);
}

void AshaPromotion::Apply(const DecisionRecord& record) {
  const RungIndex index{static_cast<size_t>(record.bracket), ladder_.IndexOf(record.level)};
  PromotionRung& rung = RungAt(index);
  Progress progress = ProgressOf(record.trial);
  if (record.decision == "promote") {
    rung.Promote(progress.value, record.trial);
    progress.standing = Standing::kRunning;
  } else {
    progress.next_level = index.level + 1;
  }
  if (record.decision != "promote" && record.decision != "skipped") {
    progress.value = sign_ * record.value;
    progress.step = record.step;
    if (std::isfinite(record.value)) {
      rung.Insert(progress.value, record.trial);
      progress.standing = Standing::kWaiting;
    } else {
      rung.InsertLoser();
      const bool stopped = record.decision == ToString(Decision::kStop);
      progress.standing = stopped ? Standing::kStopped : Standing::kLoser;
    }
  }
  trials_[record.trial.value] = progress;
}

void AshaPromotion::Restore(std::span<const DecisionRecord> records) {
  for (const DecisionRecord& record : records) Apply(record);
}

}  // namespace rung
