#include "search/record_replay.h"

#include <fmt/format.h>

#include <string>

#include "core/check.h"
#include "core/metric.h"

namespace rung {
namespace {

bool SameRow(const DecisionRecord& a, const DecisionRecord& b) {
  return a.decision == b.decision && a.reason == b.reason && a.trial == b.trial &&
         a.bracket == b.bracket && a.level == b.level && a.step == b.step &&
         SameValue(a.value, b.value) && a.n_before == b.n_before && a.entries == b.entries &&
         a.rank == b.rank && a.cutoff == b.cutoff && a.rule == b.rule;
}

/// All that SameRow compares.
std::string Shown(const DecisionRecord& row) {
  return fmt::format(
      "{} of trial {} at level {} of bracket {}, step {}, value {}, n_before {}, "
      "entries {}, rank {}, cutoff {}, rule {}{}{}",
      row.decision, row.trial.value, row.level, row.bracket, row.step, row.value, row.n_before,
      row.entries, row.rank ? fmt::format("{}", *row.rank) : "none",
      row.cutoff ? fmt::format("{}", *row.cutoff) : "none", row.rule,
      row.reason.empty() ? "" : ", reason ", row.reason);
}

absl::Status Difference(int64_t seq, const std::string& stored, const std::string& ours) {
  return absl::FailedPreconditionError(
      fmt::format("decision {}: stored is {}; the rule says {}", seq, stored, ours));
}

}  // namespace

absl::Status RecordReplay::OnReport(int32_t attempt, const RuleReport& report) {
  RUNG_RETURN_IF_ERROR(Finish());
  if (over_.contains(report.trial.value)) {
    rule_->Observe(report);
    return absl::OkStatus();
  }
  const auto left = left_.find(report.trial.value);
  if (left != left_.end() && attempt <= left->second) return absl::OkStatus();
  last_ = rule_->OnReport(report);
  followed_ = 0;
  return absl::OkStatus();
}

absl::Status RecordReplay::OnRow(int32_t attempt, const DecisionRecord& row) {
  ++rows_;
  RUNG_RETURN_IF_ERROR(Grants(attempt, row));
  const DecisionRecord& ours = last_.records[followed_];
  if (!SameRow(row, ours)) return Difference(rows_, Shown(row), Shown(ours));
  ++followed_;
  return absl::OkStatus();
}

/// Grants are no decisions of the rule: the stored row says that one was made.
absl::Status RecordReplay::Grants(int32_t attempt, const DecisionRecord& row) {
  const Grant grant = row.reason == "drain" ? Grant::kDrain : Grant::kEarned;
  const bool is_grant = row.decision == "promote";
  const bool expects = followed_ < last_.records.size();
  const bool on_arrival = expects && last_.records[followed_].decision == "pause" &&
                          row.decision == "continue" && followed_ + 1 == last_.records.size();
  if (expects && !on_arrival) return absl::OkStatus();
  if (!expects && !is_grant) return Difference(rows_, Shown(row), "nothing");
  if (!IsItsTurn(row.trial, grant)) {
    return Difference(rows_, Shown(row),
                      fmt::format("that trial {} has not earned it", row.trial.value));
  }
  if (on_arrival) {
    rule_->PromoteOnArrival(grant, last_);
    return absl::OkStatus();
  }
  left_[row.trial.value] = attempt;
  last_ = rule_->Promote(row.trial, grant);
  followed_ = 0;
  return absl::OkStatus();
}

absl::Status RecordReplay::Finish() const {
  if (followed_ == last_.records.size()) return absl::OkStatus();
  return Difference(rows_ + 1, "nothing", Shown(last_.records[followed_]));
}

void RecordReplay::OnTrialEnded(TrialNumber trial, TrialState state) {
  over_.insert(trial.value);
  rule_->OnTrialEnded(trial, state);
}

bool RecordReplay::IsItsTurn(TrialNumber trial, Grant grant) const {
  if (grant == Grant::kDrain) return rule_->NextDrain() == trial;
  auto claim = rule_->NextPromotion(std::nullopt);
  while (claim && *claim != trial) claim = rule_->NextPromotion(*claim);
  return claim.has_value();
}

}  // namespace rung
