#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/ids.h"
#include "core/trial.h"
#include "search/stopping_rule.h"

/// Whether the decisions of an experiment are those of its rule (EARLY_STOPPING.md §5): its stored
/// reports, exits and grants go through a fresh rule in the order in which they were committed, and
/// every row that the rule writes must be the stored one.
namespace rung {

class RecordReplay {
 public:
  /// `rule` has decided nothing yet.
  explicit RecordReplay(std::unique_ptr<StoppingRule> rule) : rule_(std::move(rule)) {}

  /// The next report with the objective. One of a trial that has ended, or of an attempt that a
  /// promotion has left behind, decides nothing.
  /// Errors of this and the next: FAILED_PRECONDITION that names the first difference.
  absl::Status OnReport(int32_t attempt, const RuleReport& report);
  /// The next row, numbered from 1 in the order of `seq`; `attempt` is the one that it stores.
  absl::Status OnRow(int32_t attempt, const DecisionRecord& row);
  /// Nothing more was stored.
  absl::Status Finish() const;

  /// A trial became completed, stopped, failed or cancelled.
  void OnTrialEnded(TrialNumber trial, TrialState state);

  int64_t rows() const { return rows_; }

 private:
  /// Whether the promotions of the rule name `trial`: one that needs a certain worker is passed
  /// over while that is busy, so a later claim may come first.
  bool IsItsTurn(TrialNumber trial, Grant grant) const;
  absl::Status Grants(int32_t attempt, const DecisionRecord& row);

  std::unique_ptr<StoppingRule> rule_;
  Verdict last_;         ///< what the rule says of the last report or promotion
  size_t followed_ = 0;  ///< rows of it that were found
  std::unordered_set<int32_t> over_;
  std::unordered_map<int32_t, int32_t> left_;  ///< by trial: attempts up to this one
  int64_t rows_ = 0;
};

}  // namespace rung
