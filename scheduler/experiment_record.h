#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/parameters.h"
#include "core/time.h"
#include "scheduler/placement.h"
#include "scheduler/trial_record.h"
#include "search/searcher.h"
#include "search/stopping_rule.h"

/// An experiment that is not final, with all its trials.
namespace rung {

/// Attempts that one worker's machine could not start, one after the other.
struct StartFailures {
  std::string why;  ///< of the last one
  int32_t in_a_row = 0;
  std::optional<MonoTime> passed_over_until;  ///< absent: it may be tried again
};

class ExperimentRecord {
 public:
  ExperimentRecord(ExperimentRow experiment_row, ExperimentSpec experiment_spec,
                   std::unique_ptr<Searcher> experiment_searcher,
                   std::unique_ptr<StoppingRule> experiment_rule);

  ExperimentRow row;
  const ExperimentSpec spec;
  const std::unique_ptr<Searcher> searcher;
  const std::unique_ptr<StoppingRule> rule;
  std::optional<MonoTime> deadline;
  int64_t last_seq = 0;                           ///< of the table decisions
  std::map<std::string, std::string> refused_by;  ///< worker → why it refused a trial
  /// By worker. Not stored: after a restart each is tried again at once.
  std::map<std::string, StartFailures> start_failures;
  double gpu_s_of_final_attempts = 0;

  /// The trial template; of an ask/tell experiment one with the defaults, for its limits.
  const TrialTemplate& trial_template() const { return template_; }
  Gang gang() const { return {template_.processes, template_.per_process}; }

  const std::deque<TrialRecord>& trials() const { return trials_; }
  /// nullptr for a number that was not given out.
  TrialRecord* Find(TrialNumber number);
  TrialRecord& At(TrialNumber number);

  /// Whether the searcher has a further configuration. Asks it at most once a trial.
  bool HasNext();
  /// Appends a Queued trial with the searcher's next configuration. Only after HasNext().
  TrialRecord& AddTrial(WallTime now);
  /// Appends a stored trial; its attempt and curve are set before Index().
  TrialRecord& RestoreTrial(TrialRow trial_row);
  /// Counts a trial after its state or its attempt's state was changed by hand.
  void Index(const TrialRecord& trial);

  void SetTrialState(TrialRecord& trial, TrialState state, std::string reason);
  void SetAttemptState(TrialRecord& trial, AttemptState state);
  void SetAttempt(TrialRecord& trial, AttemptRecord attempt);

  const std::set<TrialNumber>& queued() const { return queued_; }
  /// Trials that wait at a level, whether or not their last attempt is final.
  const std::set<TrialNumber>& paused() const { return paused_; }
  /// Trials whose newest attempt is not final.
  const std::set<TrialNumber>& live() const { return live_; }
  int64_t CountOf(TrialState state) const { return counts_[static_cast<size_t>(state)]; }
  /// Whether any of its trials ever stored a report.
  bool any_report = false;

 private:
  const TrialTemplate template_;
  std::deque<TrialRecord> trials_;  ///< by number; a deque keeps references valid
  std::set<TrialNumber> queued_;
  std::set<TrialNumber> paused_;
  std::set<TrialNumber> live_;
  std::array<int64_t, 7> counts_ = {};
  bool asked_ = false;                 ///< whether next_ is the searcher's answer
  std::optional<Configuration> next_;  ///< of trial number trials_.size()
};

}  // namespace rung
