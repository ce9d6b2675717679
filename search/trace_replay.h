#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"
#include "core/trial.h"
#include "search/stopping_rule.h"

/// An experiment without its machines: a stopping rule, the trials it decides on, and a list of
/// what happens to them (INTERFACES.md §6, EARLY_STOPPING.md §2 and §4).
///
/// Resources are given by the trace alone: a `free` is what one gang needs, and goes to a trial
/// that was lost, else to a promotion, else to a new trial, else to a drain.
namespace rung {

struct TraceSetup {
  StoppingRuleSpec rule;
  Goal goal = Goal::kMinimize;
  int64_t seed = 0;    ///< draws the brackets
  int32_t trials = 1;  ///< their numbers are 0 … trials − 1
};

inline constexpr int32_t kTraceTrialsMax = 10'000'000;

/// How an attempt ended by itself.
enum class TraceExit { kCompleted, kFailed, kLost };

struct ReportAnswer {
  TrialNumber trial;
  Steps step = 0;
  Decision decision = Decision::kContinue;
  std::string reason;            ///< empty where nothing is to be said
  std::optional<Steps> level;    ///< whose rung the report entered
  std::optional<double> cutoff;  ///< as DecisionRecord::cutoff
  int64_t n_before = 0;          ///< as DecisionRecord::n_before; 0 without a level
};
struct StartAnswer {
  TrialNumber trial;
};
struct ResumeAnswer {
  TrialNumber trial;
  Steps from = 0;  ///< the step of its last pause; 0: it begins anew
};
struct IdleAnswer {};
struct ExitAnswer {
  TrialNumber trial;
  TrialState state = TrialState::kRunning;  ///< after the exit
};
using TraceAnswer = std::variant<ReportAnswer, StartAnswer, ResumeAnswer, IdleAnswer, ExitAnswer>;

class TraceReplay {
 public:
  /// Errors: those of MakeStoppingRule; INVALID_ARGUMENT for `trials` outside 1 … kTraceTrialsMax.
  static absl::StatusOr<TraceReplay> Create(const TraceSetup& setup);

  /// A report of a number that was not started yet, or was lost, starts it. A step at or below the
  /// one from which the trial was resumed is answered `continue`, the same report again as the
  /// first time, a report after a stop with that stop.
  /// Errors: INVALID_ARGUMENT "trial: …", "step: …" or "value: …".
  absl::StatusOr<ReportAnswer> OnReport(const RuleReport& report);

  TraceAnswer OnFree();

  /// The exit of an attempt that was told to stop or pause changes nothing.
  /// Errors: INVALID_ARGUMENT "trial: …" for one that does not run.
  absl::StatusOr<ExitAnswer> OnExit(TrialNumber trial, TraceExit exit);

 private:
  struct Trial {
    std::optional<TrialState> state;  ///< nullopt: not started yet
    bool exited = false;              ///< its last attempt is no more
    Steps resume_step = 0;            ///< from which it goes on, or went on
    Steps last_step = 0;              ///< of its attempt; 0: no report yet
    double last_value = 0;
    /// The last answer that was not a plain `continue`.
    std::unique_ptr<ReportAnswer> told = nullptr;
  };

  TraceReplay(std::unique_ptr<StoppingRule> rule, int32_t trials)
      : rule_(std::move(rule)), trials_max_(trials) {}

  absl::StatusOr<Trial*> Find(TrialNumber number);
  void SetState(TrialNumber number, TrialState state);
  void Start(TrialNumber number);
  ReportAnswer Judge(const RuleReport& report, Trial& trial);
  /// Takes over what the rule says of a trial that ran.
  void Follow(TrialNumber number, Verdict& verdict);
  /// Whether the resources that a trial which has just paused would free go to itself, and why.
  std::optional<Grant> GrantOnArrival(TrialNumber paused) const;
  bool IsDrainDue() const;
  /// Gives resources to a paused trial. False: by what it reported since it takes none.
  bool Promote(TrialNumber number, Grant grant);
  std::optional<TrialNumber> NextNew();

  std::unique_ptr<StoppingRule> rule_;
  int32_t trials_max_;
  std::vector<Trial> trials_;  ///< by number, as far as any was named
  std::set<TrialNumber> queued_;
  int64_t started_ = 0;
  int64_t running_ = 0;
  int64_t completed_ = 0;
  int32_t lowest_new_ = 0;  ///< every lower number was started
};

}  // namespace rung
