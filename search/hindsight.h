#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment.h"
#include "core/ids.h"
#include "core/metric.h"
#include "search/stopping_rule.h"

/// What another rule would have decided on the curves that an experiment recorded.
///
/// The reports come in their recorded order, and what the rule frees is not spent: no trial starts
/// earlier than it did. A promotion is granted as soon as it is earned; at the end the drain of
/// EARLY_STOPPING.md §4 follows. What a curve would have gone on to is not known, and a rung beyond
/// its end lacks its value.
namespace rung {

struct CurvePoint {
  Steps step = 0;
  double value = 0;
  int64_t time_us = 0;
};

/// What came after the last point of a curve.
enum class CurveEnd {
  kCut,        ///< nobody knows: the trial was stopped, cancelled, or ended at its R
  kCompleted,  ///< the trial ended by itself
  kFailed,     ///< the trial failed
};

struct RecordedCurve {
  TrialNumber trial;
  std::vector<CurvePoint> points;  ///< of the objective, steps ascending, nothing superseded
  CurveEnd end = CurveEnd::kCut;
};

struct HindsightInput {
  std::vector<RecordedCurve> curves;  ///< by trial number
  Goal goal = Goal::kMinimize;
  BestBy best_by = BestBy::kBest;
};

enum class Fate {
  kStopped,      ///< by the rule
  kNotPromoted,  ///< paused, and never promoted
  kCompleted,    ///< it reaches R
  kEnded,        ///< completed by itself or failed, as it was recorded
  kUnknown,      ///< the rule lets it go on, and its curve ends before R
};

struct TrialHindsight {
  TrialNumber trial;
  Fate fate = Fate::kUnknown;
  Steps recorded_steps = 0;  ///< the last step of its curve
  Steps steps = 0;           ///< the last one that it would have trained
  std::string reason;        ///< of the stop, if any
  std::optional<DecisionRecord> last_decision;
  std::optional<double> best_value;  ///< of the steps that it would have trained, by best_by
  std::optional<Steps> best_step;
};

struct Hindsight {
  std::vector<TrialHindsight> trials;  ///< as the curves
  Steps recorded_steps = 0;            ///< of all trials
  Steps steps = 0;
  std::optional<TrialNumber> best;  ///< the best of `trials`, the lower number of equals
};

/// `rule` has decided nothing yet.
Hindsight LookBack(const HindsightInput& input, std::unique_ptr<StoppingRule> rule);

}  // namespace rung
