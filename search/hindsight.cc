#include "search/hindsight.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace rung {
namespace {

bool IsBetter(Goal goal, double value, double than) {
  return goal == Goal::kMaximize ? value > than : value < than;
}

class Replay {
 public:
  Replay(const HindsightInput& input, std::unique_ptr<StoppingRule> rule)
      : input_(input), rule_(std::move(rule)), trials_(input.curves.size()) {
    for (size_t i = 0; i < trials_.size(); ++i) index_of_[input.curves[i].trial.value] = i;
  }

  Hindsight Run() {
    for (const auto& [time, trial, point] : Order()) {
      Trial& t = trials_[trial];
      t.arrived = point + 1;
      if (t.standing == Standing::kRunning) Train(trial);
      GrantEarned();
    }
    Drain();
    Hindsight result;
    for (size_t i = 0; i < trials_.size(); ++i) {
      result.trials.push_back(Told(i));
      const TrialHindsight& told = result.trials.back();
      result.recorded_steps += told.recorded_steps;
      result.steps += told.steps;
      if (!told.best_value) continue;
      if (!best_ || IsBetter(input_.goal, *told.best_value, *result.trials[*best_].best_value)) {
        best_ = i;
      }
    }
    if (best_) result.best = result.trials[*best_].trial;
    return result;
  }

 private:
  enum class Standing { kRunning, kPaused, kStopped, kCompleted };
  struct Trial {
    Standing standing = Standing::kRunning;
    size_t arrived = 0;  ///< points up to now
    size_t trained = 0;  ///< points that the rule has seen
    std::string reason;
    std::optional<DecisionRecord> last_decision;
  };

  /// (time, index of the curve, index of the point); steps of one trial stay in order.
  std::vector<std::tuple<int64_t, size_t, size_t>> Order() const {
    std::vector<std::tuple<int64_t, size_t, size_t>> order;
    for (size_t i = 0; i < input_.curves.size(); ++i) {
      int64_t latest = 0;  // clocks of a restarted service may step back
      for (size_t p = 0; p < input_.curves[i].points.size(); ++p) {
        latest = std::max(latest, input_.curves[i].points[p].time_us);
        order.emplace_back(latest, i, p);
      }
    }
    std::ranges::sort(order);
    return order;
  }

  /// Shows the rule what has arrived of a trial, until it no longer runs.
  void Train(size_t index) {
    Trial& trial = trials_[index];
    const RecordedCurve& curve = input_.curves[index];
    while (trial.standing == Standing::kRunning && trial.trained < trial.arrived) {
      const CurvePoint& point = curve.points[trial.trained++];
      Verdict verdict = rule_->OnReport({curve.trial, point.step, point.value});
      if (verdict.decision == Decision::kPause &&
          rule_->NextPromotion(std::nullopt) == curve.trial) {
        rule_->PromoteOnArrival(Grant::kEarned, verdict);
      }
      for (const DecisionRecord& record : verdict.records) {
        if (record.decision != "skipped" && record.decision != "promote") {
          trial.last_decision = record;
        }
      }
      if (verdict.decision == Decision::kContinue) continue;
      trial.reason = verdict.reason;
      trial.standing = verdict.trial_completed                ? Standing::kCompleted
                       : verdict.decision == Decision::kPause ? Standing::kPaused
                                                              : Standing::kStopped;
    }
  }

  void GrantEarned() {
    while (const auto next = rule_->NextPromotion(std::nullopt)) Promote(*next, Grant::kEarned);
  }

  void Promote(TrialNumber number, Grant grant) {
    rule_->Promote(number, grant);
    const size_t index = index_of_.at(number.value);
    trials_[index].standing = Standing::kRunning;
    trials_[index].reason.clear();
    Train(index);
  }

  /// Only while nothing runs and nothing has completed. A trial that goes on beyond its curve may
  /// complete yet.
  void Drain() {
    const auto may_complete = [this](const Trial& trial) {
      const CurveEnd end = input_.curves[static_cast<size_t>(&trial - trials_.data())].end;
      return trial.standing == Standing::kCompleted ||
             (trial.standing == Standing::kRunning && end != CurveEnd::kFailed);
    };
    while (std::ranges::none_of(trials_, may_complete)) {
      const auto next = rule_->NextDrain();
      if (!next) return;
      Promote(*next, Grant::kDrain);
      GrantEarned();
    }
  }

  TrialHindsight Told(size_t index) const {
    const Trial& trial = trials_[index];
    const RecordedCurve& curve = input_.curves[index];
    TrialHindsight told;
    told.trial = curve.trial;
    told.fate = FateOf(trial, curve);
    told.reason = trial.reason;
    told.last_decision = trial.last_decision;
    if (!curve.points.empty()) told.recorded_steps = curve.points.back().step;
    if (trial.trained > 0) told.steps = curve.points[trial.trained - 1].step;
    if (const CurvePoint* best = BestOf(trial, curve)) {
      told.best_value = best->value;
      told.best_step = best->step;
    }
    return told;
  }

  static Fate FateOf(const Trial& trial, const RecordedCurve& curve) {
    switch (trial.standing) {
      case Standing::kStopped:
        return Fate::kStopped;
      case Standing::kPaused:
        return Fate::kNotPromoted;
      case Standing::kCompleted:
        return Fate::kCompleted;
      case Standing::kRunning:
        break;
    }
    return curve.end == CurveEnd::kCut ? Fate::kUnknown : Fate::kEnded;
  }

  /// As the service finds a trial's best (INTERFACES.md §2, best_by).
  const CurvePoint* BestOf(const Trial& trial, const RecordedCurve& curve) const {
    const std::span<const CurvePoint> points(curve.points.data(), trial.trained);
    const CurvePoint* best = nullptr;
    switch (input_.best_by) {
      case BestBy::kBest:
        for (const CurvePoint& point : points) {
          if (!std::isfinite(point.value)) continue;
          if (best == nullptr || IsBetter(input_.goal, point.value, best->value)) best = &point;
        }
        return best;
      case BestBy::kLast:
        if (!points.empty()) best = &points.back();
        break;
      case BestBy::kMaxT:
        if (const std::optional<Steps> end = rule_->MaxStep()) {
          const auto at_end = std::ranges::lower_bound(points, *end, {}, &CurvePoint::step);
          if (at_end != points.end()) best = &*at_end;
        }
        break;
    }
    return best != nullptr && std::isfinite(best->value) ? best : nullptr;
  }

  const HindsightInput& input_;
  std::unique_ptr<StoppingRule> rule_;
  std::vector<Trial> trials_;
  std::unordered_map<int32_t, size_t> index_of_;
  std::optional<size_t> best_;
};

}  // namespace

Hindsight LookBack(const HindsightInput& input, std::unique_ptr<StoppingRule> rule) {
  return Replay(input, std::move(rule)).Run();
}

}  // namespace rung
