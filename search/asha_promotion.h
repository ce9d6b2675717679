#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/ladder.h"
#include "search/promotion_rung.h"
#include "search/stopping_rule.h"

/// Asynchronous successive halving that pauses every trial at every level and promotes those that
/// have earned it.
///
/// Source: Li et al., "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020),
/// Algorithm 2. EARLY_STOPPING.md §2, §4 and §5 are the rules word for word.
///
/// A trial that pauses is recorded as `pause` with the reason `below_top` (it is not among the
/// first k) or `awaits_resources` (it is, but what it frees goes to another), or as `continue` when
/// what it frees goes to itself. A grant is a record `promote`; its n_before and rank are those of
/// the moment, its own entry apart.
namespace rung {

class AshaPromotion final : public StoppingRule {
 public:
  /// Errors: INVALID_ARGUMENT with a path below `scheduler`, also where `cut` or `min_rivals`,
  /// which mean nothing here, are set.
  static absl::StatusOr<std::unique_ptr<AshaPromotion>> Create(const AshaSpec& spec, Goal goal,
                                                               int64_t seed);

  int32_t BracketOf(TrialNumber trial) const override { return ladder_.BracketOf(trial); }
  std::optional<Steps> MaxStep() const override { return max_t_; }
  Verdict OnReport(const RuleReport& report) override;
  void Restore(std::span<const DecisionRecord> records) override;
  std::optional<TrialNumber> NextPromotion(std::optional<TrialNumber> after) const override;
  std::optional<TrialNumber> NextDrain() const override;
  Verdict Promote(TrialNumber trial, Grant grant) override;
  void PromoteOnArrival(Grant grant, Verdict& paused) override;
  void OnTrialEnded(TrialNumber trial, TrialState state) override;

 private:
  enum class Standing { kRunning, kWaiting, kLoser, kStopped, kOver };
  struct Progress {
    size_t next_level = 0;  ///< index of the lowest level not yet passed
    Standing standing = Standing::kRunning;
    double value = 0;  ///< larger is better; of the entry in which it waits
    Steps step = 0;    ///< likewise
  };
  struct RungIndex {
    size_t bracket;
    size_t level;
  };

  AshaPromotion(const AshaSpec& spec, Goal goal, Ladder ladder);

  Progress ProgressOf(TrialNumber trial) const;
  const PromotionRung& RungAt(RungIndex index) const { return rungs_[index.bracket][index.level]; }
  PromotionRung& RungAt(RungIndex index) { return rungs_[index.bracket][index.level]; }
  RungIndex RungOf(TrialNumber trial, const Progress& progress) const;

  /// How many eligible entries of a rung with `entries` go on.
  int64_t QuotaOf(size_t level, int64_t entries) const;
  bool IsAmongTop(RungIndex index, TrialNumber trial) const;
  /// The first rung in the order of promotion, and the one behind `index`.
  std::optional<RungIndex> FirstRung() const;
  std::optional<RungIndex> RungBehind(RungIndex index) const;

  DecisionRecord Row(const RuleReport& report, RungIndex index) const;
  DecisionRecord EntryRow(const RuleReport& report, RungIndex index, const Passage& passage) const;
  DecisionRecord GrantRow(TrialNumber trial, const char* reason) const;
  void KeepLate(const RuleReport& report, const Progress& progress);

  /// The only change of state by a record, so that stored ones rebuild it.
  void Apply(const DecisionRecord& record);

  const Steps max_t_;
  const double sign_;  ///< 1 to maximize, −1 to minimize; inside, larger is better
  const Ladder ladder_;
  std::vector<std::vector<PromotionRung>> rungs_;  ///< by bracket and level
  std::unordered_map<int32_t, Progress> trials_;
  /// Of waiting trials: the first report at or past each level ahead.
  std::unordered_map<int32_t, std::vector<RuleReport>> late_;
};

}  // namespace rung
