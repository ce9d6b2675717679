#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/experiment.h"
#include "core/ids.h"
#include "core/metric.h"
#include "core/trial.h"

/// What to stop, pause or promote. EARLY_STOPPING.md has the exact rules and the words.
namespace rung {

struct FifoSpec {};
struct AshaSpec {
  enum class Variant { kStopping, kPromotion };
  enum class Cut { kQuantile, kTop };
  enum class NonFinite { kStop, kWorst, kIgnore };

  Steps max_t = 0;               ///< R: the end of every trial
  Steps grace_period = 0;        ///< r: the first level, 1 ≤ r ≤ R
  int64_t reduction_factor = 0;  ///< η, at least 2
  int32_t brackets = 1;          ///< S, 1 … levels + 1
  Variant variant = Variant::kStopping;
  Cut cut = Cut::kQuantile;
  int64_t min_rivals = 0;
  NonFinite non_finite = NonFinite::kStop;
};
struct MedianSpec {
  Steps grace_period = 0;      ///< the first step at which trials are compared, at least 1
  int64_t min_rivals = 3;      ///< at least 1
  std::optional<Steps> max_t;  ///< R, where trials have an end: at least grace_period
};
using StoppingRuleSpec = std::variant<FifoSpec, AshaSpec, MedianSpec>;

/// One row of the table `decisions`: a level passed or skipped (§5).
struct DecisionRecord {
  int32_t bracket = 0;
  Steps level = 0;
  TrialNumber trial;
  Steps step = 0;                ///< of the report that passed the level
  double value = 0;              ///< with the user's sign; may be non-finite
  int64_t n_before = 0;          ///< finite values in the rung before this report
  int64_t entries = 0;           ///< all entries, own and losers included
  std::optional<int64_t> rank;   ///< 1 + entries better by (value, trial number); null for a loser
  std::optional<double> cutoff;  ///< with the user's sign; null with no_rivals and in promotion
  std::string rule;              ///< "asha.stopping.quantile", "asha.stopping.top", …
  std::string decision;          ///< continue, stop, pause, skipped or promote
  std::string reason;            ///< "", no_rivals, few_rivals, below_cutoff, non_finite, …
};

/// A report with the objective; without one the rule is not asked.
struct RuleReport {
  TrialNumber trial;
  Steps step = 0;
  double value = 0;  ///< the objective, with the user's sign
};

/// Why a paused trial gets resources (§4).
enum class Grant {
  kEarned,  ///< it is among the first of its rung
  kDrain,   ///< nothing else is left and no trial has completed
};

struct Verdict {
  Decision decision = Decision::kContinue;
  std::string reason;  ///< of the decision: max_t, below_cutoff, non_finite, promoted_on_arrival, …
  std::vector<DecisionRecord> records;  ///< rows to store with the report, in order
  bool trial_completed = false;         ///< R is reached: the trial is complete
};

/// An implementation guarantees: answers depend on the calls so far alone; after Restore(records),
/// the history where it is needed, OnTrialEnded of the trials that failed or were cancelled, and
/// OnReport of what paused trials reported after their pause, a fresh object goes on exactly as the
/// one that returned those records would have.
class StoppingRule {
 public:
  virtual ~StoppingRule() = default;

  virtual int32_t BracketOf(TrialNumber trial) const = 0;
  /// The last step of a trial (R), where the rule has one: RUNG_MAX_STEP.
  virtual std::optional<Steps> MaxStep() const = 0;

  /// Steps of one trial never decrease, except that a resumed attempt passes decided levels again,
  /// which gives `continue` if the trial went on there, else what was decided, and no second
  /// record. Of a paused trial nothing is decided, but the first report at or past each further
  /// level is kept until Promote.
  virtual Verdict OnReport(const RuleReport& report) = 0;

  /// Replays stored rows, in `seq` order.
  virtual void Restore(std::span<const DecisionRecord> records) = 0;

  /// Whether decisions depend on more values than the records hold. Then, after Restore, Observe
  /// gets every stored value of the objective, superseded ones included, by (trial, attempt, step).
  virtual bool NeedsHistory() const { return false; }
  /// A stored value of which nothing is decided: a trial that was told to end has reported it, or
  /// it is history. It may count for the decisions on others.
  virtual void Observe(const RuleReport& report);

  // What follows is for rules that pause trials (§4); the others never do, and keep these.

  /// The paused trials that have earned the next rung, the first claim first: the first of them, or
  /// the one behind `after`, which must be one. nullopt: there is none.
  virtual std::optional<TrialNumber> NextPromotion(std::optional<TrialNumber> after) const;
  /// The paused trial that a drain takes: the best of the highest rung that has one.
  virtual std::optional<TrialNumber> NextDrain() const;

  /// Gives resources to a paused trial that one of the two names. The verdict has the grant's
  /// record and then those of the trial's next report that was kept, if there is one: `continue`
  /// means that the trial is to run, `pause` that it waits at a further level, `stop` that it has
  /// ended.
  virtual Verdict Promote(TrialNumber trial, Grant grant);
  /// The resources that the trial of `paused` would free go to itself. `paused` is the verdict that
  /// the last call of OnReport gave; it becomes `continue` with the reason, in its last record too,
  /// and the grant's record is appended.
  virtual void PromoteOnArrival(Grant grant, Verdict& paused);

  /// A trial that failed or was cancelled is not promoted any more, and keeps its entries.
  virtual void OnTrialEnded(TrialNumber trial, TrialState state);
};

/// `seed` draws the brackets. Errors: INVALID_ARGUMENT with a path below `scheduler`; UNIMPLEMENTED
/// "… comes with a later version" for what INTERFACES.md names and this version lacks.
absl::StatusOr<std::unique_ptr<StoppingRule>> MakeStoppingRule(const StoppingRuleSpec& spec,
                                                               Goal goal, int64_t seed);

}  // namespace rung
