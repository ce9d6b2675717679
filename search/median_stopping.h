#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/rung_table.h"
#include "search/stopping_rule.h"

/// Stops a trial whose best value is worse than the median of what the others had on average.
///
/// Sources: Golovin et al., "Google Vizier" (KDD 2017), "performance curve … median stopping rule";
/// the details are those of Ray Tune's MedianStoppingRule (2.60): means from grace_period on, all
/// trials that got as far, whether they still run or not, and an equal value goes on. Unlike Ray's,
/// a trial is a rival at the steps that it reported, which makes a decision O(log n).
///
/// The rule, at a finite value at step s, grace_period ≤ s, below max_t where there is one:
///   - a trial's running mean at s is that of its finite values at the steps grace_period … s,
///     added up in their order, in doubles; it has one where it reported a finite value at s;
///   - the median is of the n running means that other trials have at s: the middle one, or the
///     midpoint of the two middle ones;
///   - with n < min_rivals the trial goes on; if the best finite value that it has reported so far,
///     steps before grace_period included, is worse than the median, it stops (`below_median`).
/// A value that is not finite is as if it had not been reported. At or below a step that the trial
/// has reached before (a resumed attempt) nothing is decided and the first value stays.
///
/// A stop has a record, and nothing else: level and step are s, value the best so far, n_before is
/// n, entries n + 1, rank 1 + the number of means better than the value, cutoff the median.
///
/// A reported value costs about 100 bytes until the experiment ends.
namespace rung {

class MedianStopping final : public StoppingRule {
 public:
  /// Errors: INVALID_ARGUMENT with a path below `scheduler.median`.
  static absl::StatusOr<std::unique_ptr<MedianStopping>> Create(const MedianSpec& spec, Goal goal);

  int32_t BracketOf(TrialNumber /*trial*/) const override { return 0; }
  std::optional<Steps> MaxStep() const override { return spec_.max_t; }
  Verdict OnReport(const RuleReport& report) override;
  void Restore(std::span<const DecisionRecord> records) override;
  bool NeedsHistory() const override { return true; }
  void Observe(const RuleReport& report) override;

 private:
  /// Values larger is better.
  struct Progress {
    Steps last_step = 0;
    std::optional<double> best;
    double sum = 0;  ///< from grace_period on
    int64_t count = 0;
    bool stopped = false;
  };

  MedianStopping(const MedianSpec& spec, Goal goal);

  bool Counts(const RuleReport& report) const;
  /// The record of a stop, or nothing where the trial goes on.
  std::optional<DecisionRecord> Judge(const RuleReport& report, double best) const;

  const MedianSpec spec_;
  const double sign_;  ///< 1 to maximize, −1 to minimize
  std::map<Steps, RungTable> means_;
  std::unordered_map<int32_t, Progress> trials_;
};

}  // namespace rung
