#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/ladder.h"
#include "search/rung_table.h"
#include "search/stopping_rule.h"

/// Asynchronous successive halving that stops trials and never pauses one.
///
/// Sources: Li et al., "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020); the
/// cut `quantile` is that of Ray Tune's AsyncHyperBandScheduler (2.60), `top` that of Optuna's
/// SuccessiveHalvingPruner (5.0). EARLY_STOPPING.md §2, §3 and §5 are the rules word for word.
///
/// A record of a level that decided nothing (skipped, or a non-finite value) has no rank and no
/// cutoff.
namespace rung {

class AshaStopping final : public StoppingRule {
 public:
  /// Errors: INVALID_ARGUMENT with a path below `scheduler`.
  static absl::StatusOr<std::unique_ptr<AshaStopping>> Create(const AshaSpec& spec, Goal goal,
                                                              int64_t seed);

  int32_t BracketOf(TrialNumber trial) const override { return ladder_.BracketOf(trial); }
  std::optional<Steps> MaxStep() const override { return spec_.max_t; }
  Verdict OnReport(const RuleReport& report) override;
  void Restore(std::span<const DecisionRecord> records) override;

 private:
  /// What the records say of one trial.
  struct Progress {
    size_t next_level = 0;  ///< index of the lowest level not yet passed
    bool stopped = false;
    bool non_finite = false;  ///< why it was stopped
  };
  /// A level that a report passes.
  struct Place {
    int32_t bracket;
    size_t level;  ///< index in the levels
    RuleReport report;
  };

  AshaStopping(const AshaSpec& spec, Goal goal, Ladder ladder);

  /// Trials of bracket s pass the levels from index s on.
  Progress ProgressOf(TrialNumber trial, int32_t bracket) const;
  RungTable& RungOf(int32_t bracket, size_t level);

  DecisionRecord Skipped(const Place& place);
  DecisionRecord Loser(const Place& place);
  DecisionRecord Judged(const Place& place);
  /// The row of a place before anything is decided.
  DecisionRecord Row(const Place& place);

  /// The value, larger is better, that `value` must reach; `rung` holds the earlier values alone.
  double Cutoff(const RungTable& rung, double value, TrialNumber trial) const;
  double QuantileOf(const RungTable& rung) const;
  double TopOf(const RungTable& rung, double value, TrialNumber trial) const;

  /// The only change of state, so that stored records rebuild it.
  void Apply(const DecisionRecord& record);

  const AshaSpec spec_;
  const double sign_;  ///< 1 to maximize, −1 to minimize; inside, larger is better
  const Ladder ladder_;
  std::vector<std::vector<RungTable>> rungs_;  ///< by bracket and level
  std::unordered_map<int32_t, Progress> trials_;
};

}  // namespace rung
