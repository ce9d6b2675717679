#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

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

  int32_t BracketOf(TrialNumber trial) const override;
  std::optional<Steps> MaxStep() const override { return spec_.max_t; }
  std::vector<Steps> Levels() const override { return levels_; }
  Verdict OnReport(const RuleReport& report) override;
  void Restore(std::span<const DecisionRecord> records) override;

 private:
  /// What the records say of one trial.
  struct Progress {
    size_t next_level = 0;  ///< index in levels_ of the lowest level not yet passed
    bool stopped = false;
    bool non_finite = false;  ///< why it was stopped
  };
  /// A level that a report passes.
  struct Passage {
    int32_t bracket;
    size_t level;  ///< index in levels_
    RuleReport report;
  };

  AshaStopping(const AshaSpec& spec, Goal goal, int64_t seed);

  /// Trials of bracket s pass the levels from index s on.
  Progress ProgressOf(TrialNumber trial, int32_t bracket) const;
  RungTable& RungOf(int32_t bracket, size_t level);

  DecisionRecord Skipped(const Passage& passage);
  DecisionRecord Loser(const Passage& passage);
  DecisionRecord Judged(const Passage& passage);
  /// The row of a passage before anything is decided.
  DecisionRecord Row(const Passage& passage);

  /// The value, larger is better, that `value` must reach; `rung` holds the earlier values alone.
  double Cutoff(const RungTable& rung, double value, TrialNumber trial) const;
  double QuantileOf(const RungTable& rung) const;
  double TopOf(const RungTable& rung, double value, TrialNumber trial) const;

  /// The only change of state, so that stored records rebuild it.
  void Apply(const DecisionRecord& record);

  const AshaSpec spec_;
  const double sign_;  ///< 1 to maximize, −1 to minimize; inside, larger is better
  const int64_t seed_;
  const std::vector<Steps> levels_;            ///< of bracket 0
  std::vector<double> bracket_bounds_;         ///< cumulative weights
  std::vector<std::vector<RungTable>> rungs_;  ///< by bracket and index in levels_
  std::unordered_map<int32_t, Progress> trials_;
};

}  // namespace rung
