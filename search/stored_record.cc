#include "search/stored_record.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "search/record_replay.h"

namespace rung {
namespace {

/// Puts a record back into the order in which it was committed.
class Sequence {
 public:
  Sequence(const StoredRecord& record, RecordReplay& replay)
      : decisions_(record.decisions), ends_(record.ends), replay_(replay) {
    for (const StoredReport& report : record.reports) {
      trials_[report.report.trial].reports.push_back(report);
    }
    for (auto& [number, trial] : trials_) {
      std::ranges::sort(trial.reports, {},
                        [](const StoredReport& r) { return std::pair(r.attempt, r.report.step); });
    }
    if (record.every_report_counts) {
      by_time_ = record.reports;
      std::ranges::sort(by_time_, {}, [](const StoredReport& r) {
        return std::tuple(r.time_us, r.report.trial, r.attempt, r.report.step);
      });
    }
    for (const StoredEnd& end : ends_) trials_[end.trial].ended_us = end.time_us;
    std::ranges::sort(ends_, {}, [](const StoredEnd& e) { return std::pair(e.time_us, e.trial); });
  }

  absl::Status Run() {
    for (size_t i = 0; i < decisions_.size(); ++i) RUNG_RETURN_IF_ERROR(Decide(i));
    RUNG_RETURN_IF_ERROR(FeedBefore(std::numeric_limits<int64_t>::max()));
    for (auto& [number, trial] : trials_) {
      RUNG_RETURN_IF_ERROR(
          FeedWhile(trial, [&](const StoredReport& r) { return r.time_us < trial.ended_us; }));
    }
    return replay_.Finish();
  }

 private:
  struct Trial {
    std::vector<StoredReport> reports;  ///< by attempt and step
    size_t fed = 0;
    int64_t ended_us = std::numeric_limits<int64_t>::max();
  };

  template <typename Wanted>
  absl::Status FeedWhile(Trial& trial, Wanted wanted) {
    for (; trial.fed < trial.reports.size() && wanted(trial.reports[trial.fed]); ++trial.fed) {
      const StoredReport& report = trial.reports[trial.fed];
      RUNG_RETURN_IF_ERROR(replay_.OnReport(report.attempt, report.report));
    }
    return absl::OkStatus();
  }

  /// Of all trials, where every report counts.
  absl::Status FeedBefore(int64_t time_us) {
    for (; timed_ < by_time_.size() && by_time_[timed_].time_us < time_us; ++timed_) {
      const StoredReport& next = by_time_[timed_];
      const std::pair until(next.attempt, next.report.step);
      RUNG_RETURN_IF_ERROR(FeedWhile(trials_[next.report.trial], [&](const StoredReport& r) {
        return std::pair(r.attempt, r.report.step) <= until;
      }));
    }
    return absl::OkStatus();
  }

  absl::Status Decide(size_t index) {
    const StoredDecision& decision = decisions_[index];
    for (; ended_ < ends_.size() && ends_[ended_].time_us < decision.time_us; ++ended_) {
      replay_.OnTrialEnded(ends_[ended_].trial, ends_[ended_].state);
    }
    RUNG_RETURN_IF_ERROR(FeedBefore(decision.time_us));
    Trial& trial = trials_[decision.row.trial];
    if (decision.row.decision != "promote") {
      const std::pair until(decision.attempt, decision.row.step);
      RUNG_RETURN_IF_ERROR(FeedWhile(trial, [&](const StoredReport& r) {
        return std::pair(r.attempt, r.report.step) <= until;
      }));
    } else if (!IsOnArrival(index)) {
      RUNG_RETURN_IF_ERROR(FeedLate(trial, index));
    }
    return replay_.OnRow(decision.attempt, decision.row);
  }

  /// Whether the row before is that of the pause at which the trial went on.
  bool IsOnArrival(size_t index) const {
    if (index == 0) return false;
    const DecisionRecord& before = decisions_[index - 1].row;
    const DecisionRecord& row = decisions_[index].row;
    return before.trial == row.trial && before.decision == "continue" &&
           before.level == row.level && before.reason == row.reason;
  }

  /// What a trial reported between its pause and its promotion, which may be judged by it. Of what
  /// was committed together with the promotion that is known only of what made a row.
  absl::Status FeedLate(Trial& trial, size_t index) {
    const StoredDecision& grant = decisions_[index];
    Steps judged = 0;
    if (index + 1 < decisions_.size()) {
      const StoredDecision& next = decisions_[index + 1];
      const bool of_grant = next.row.trial == grant.row.trial && next.attempt == grant.attempt &&
                            next.row.decision != "promote";
      if (of_grant) judged = next.row.step;
    }
    return FeedWhile(trial, [&](const StoredReport& r) {
      return r.attempt <= grant.attempt && (r.time_us < grant.time_us || r.report.step <= judged);
    });
  }

  std::span<const StoredDecision> decisions_;
  std::vector<StoredReport> by_time_;  ///< where every report counts; else empty
  size_t timed_ = 0;
  std::vector<StoredEnd> ends_;  ///< by time
  size_t ended_ = 0;
  RecordReplay& replay_;
  std::map<TrialNumber, Trial> trials_;
};

}  // namespace

absl::Status CheckRecord(const StoredRecord& record, std::unique_ptr<StoppingRule> rule) {
  RecordReplay replay(std::move(rule));
  return Sequence(record, replay).Run();
}

}  // namespace rung
