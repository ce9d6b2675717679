#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/metric.h"
#include "scheduler/experiment_spec.h"

/// Reports of several ranks on their way to one value a step (INTERFACES.md §3).
namespace rung {

/// What all ranks together reported.
struct ReducedValue {
  std::string name;
  double value = 0;
  int32_t ranks = 1;  ///< how many made it
};

/// The reduction over ranks, in rank order, in doubles: mean = Σ count·v / Σ count; one non-finite
/// value makes NaN, except with `rank0`, which takes rank 0's value as it is. `values` by rank, not
/// empty.
double ReduceRanks(Reduce reduce, const std::map<int32_t, MetricValue>& values);

/// The steps of one attempt that still wait for ranks.
///
/// With `rank0` a value is complete when rank 0 has reported it; other ranks only wait for the
/// answer. Otherwise (step, name) is complete when every rank has reported it or is gone, or one of
/// those that have reported it reports a later step or exits. Complete values come out in the order
/// of steps: a later one waits for earlier open steps, so that a curve never goes back.
class OpenSteps {
 public:
  OpenSteps(Reduce reduce, int32_t processes);

  /// Whether values of `rank` are part of the reduction.
  bool Counts(int32_t rank) const { return reduce_ != Reduce::kRank0 || rank == 0; }
  /// What `rank` reported for (step, name), while it is open.
  const MetricValue* Find(int32_t rank, Steps step, const std::string& name) const;
  /// Whether any rank has reported (step, name), while it is open.
  bool IsOpen(Steps step, const std::string& name) const;
  /// The highest step of this rank since this object was made.
  std::optional<Steps> LastStepOf(int32_t rank) const;

  /// `fresh` are values that neither Find nor the stored rows know; `names` are all names of the
  /// report, `report_id` of which is answered when they are complete. Adding an id again is fine.
  void Add(int32_t rank, Steps step, const std::vector<MetricValue>& fresh,
           const std::vector<std::string>& names, uint64_t report_id);
  /// The rank is gone: nothing waits for it any more.
  void RankExited(int32_t rank);
  /// The attempt was told to stop: ranks that only wait for an answer wait no longer.
  void StopWaiting() { stopped_ = true; }
  /// Completes the lowest open step with what it has.
  void CloseOldest();

  size_t open_steps() const { return steps_.size(); }
  /// (step, name) pairs that wait.
  int64_t open_values() const;

  /// Values that became complete and reports that can be answered, all of one step.
  struct Batch {
    Steps step = 0;
    std::vector<ReducedValue> values;
    std::vector<uint64_t> report_ids;
  };
  /// The next batch in the order of steps; nullopt when what is left has to wait.
  std::optional<Batch> Take();

 private:
  struct Value {
    std::string name;
    std::map<int32_t, MetricValue> by_rank;
  };
  struct Waiting {
    uint64_t report_id = 0;
    int32_t rank = 0;
    std::vector<std::string> names;
  };
  struct Step {
    std::vector<Value> values;  ///< in the order of arrival
    std::vector<Waiting> waiting;
    bool closed = false;
  };

  bool IsComplete(Steps step, const Value& value) const;
  bool IsAnswerable(Steps step, const Step& open, const Waiting& waiting) const;
  void TakeValues(Steps step, Step& open, Batch& batch) const;
  void TakeReports(Steps step, Step& open, Batch& batch) const;

  Reduce reduce_;
  bool stopped_ = false;
  std::vector<bool> exited_;
  std::vector<std::optional<Steps>> last_step_;
  std::map<Steps, Step> steps_;
};

}  // namespace rung
