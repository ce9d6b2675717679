#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/ids.h"
#include "core/trial.h"
#include "search/stopping_rule.h"

/// What the database keeps of one experiment's reports and decisions, and the check that they
/// belong together (EARLY_STOPPING.md §5).
namespace rung {

struct StoredReport {
  int32_t attempt = 0;
  RuleReport report;
  int64_t time_us = 0;
};
struct StoredDecision {
  int32_t attempt = 0;
  DecisionRecord row;
  int64_t time_us = 0;
};
struct StoredEnd {
  TrialNumber trial;
  TrialState state = TrialState::kCompleted;  ///< a final one
  int64_t time_us = 0;
};

/// Everything that the experiment committed has the time of its commit.
struct StoredRecord {
  std::vector<StoredReport> reports;      ///< with the objective, superseded ones too; any order
  std::vector<StoredDecision> decisions;  ///< by seq
  std::vector<StoredEnd> ends;            ///< any order
  /// Under median, where every report counts for the others: all are replayed by their times.
  bool every_report_counts = false;
};

/// Replays the record of an experiment that has ended through `rule`, which has decided nothing
/// yet. `seq` orders the reports that decided something; the others decide nothing whatever their
/// place among those of other trials, so that equal times do not matter. Where every report counts,
/// what was committed at the time of a decision is taken to come after it, unless it is its own.
/// Errors: FAILED_PRECONDITION that names the first decision which differs.
absl::Status CheckRecord(const StoredRecord& record, std::unique_ptr<StoppingRule> rule);

}  // namespace rung
