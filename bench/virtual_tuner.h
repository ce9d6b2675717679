#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "bench/learning_curves.h"
#include "search/stopping_rule.h"

/// One experiment under a stopping rule on a virtual clock of integer milliseconds.
///
/// W workers run one trial each. Step t of a trial takes the configuration's step_ms and reports
/// its value at t. Steps that end at the same millisecond are taken in the order in which they were
/// scheduled. A worker that is free resumes what the rule promotes, else starts the next
/// configuration, else, when nothing runs and nothing has completed, resumes what a drain takes,
/// else is idle; after every report idle workers ask again. Pausing and resuming cost nothing: a
/// trial goes on after the step at which it paused. At R a trial is complete whatever the rule
/// says.
///
/// The rules are those under which the peers in data/ were run, so that equal decisions give equal
/// numbers.
namespace rung {

struct TunerSetting {
  int32_t trials = 0;   ///< N, at least 1
  int32_t workers = 0;  ///< W, at least 1
  Steps max_t = 0;      ///< R
};

struct TunerResult {
  int64_t steps = 0;        ///< run by all trials
  int64_t makespan_ms = 0;  ///< when the last step ended
  int32_t completed = 0;    ///< trials that reached R
  /// The trial with the lowest value reported at the most steps that any trial reached.
  TrialNumber selected;
};

class VirtualTuner {
 public:
  /// Trial i runs the curve `order[i]`; `order` has at least `setting.trials` entries. The rule
  /// minimizes. All three outlive the tuner.
  VirtualTuner(std::span<const LearningCurve> curves, std::span<const size_t> order,
               const TunerSetting& setting, StoppingRule& rule);

  /// Call it once.
  TunerResult Run();

 private:
  struct StepEnd {
    int64_t at_ms;
    int64_t sequence;
    TrialNumber trial;
    bool operator>(const StepEnd& other) const {
      return at_ms != other.at_ms ? at_ms > other.at_ms : sequence > other.sequence;
    }
  };
  struct Progress {
    Steps steps = 0;
    double value = 0;
  };

  const LearningCurve& CurveOf(TrialNumber trial) const;
  Progress& ProgressOf(TrialNumber trial);
  void Schedule(TrialNumber trial);
  /// Gives one free worker its work; whether there was any.
  bool GiveWork();
  void Resume(TrialNumber trial, Grant grant);
  void OnStepEnd(TrialNumber trial);
  TrialNumber Selected() const;

  const std::span<const LearningCurve> curves_;
  const std::span<const size_t> order_;
  const TunerSetting setting_;
  StoppingRule& rule_;
  std::priority_queue<StepEnd, std::vector<StepEnd>, std::greater<>> step_ends_;
  std::vector<Progress> trials_;  ///< those that have started
  int32_t idle_;
  int64_t now_ms_ = 0;
  int64_t next_sequence_ = 0;
  TunerResult result_;
};

}  // namespace rung
