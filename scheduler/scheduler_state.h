#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/experiment_record.h"
#include "scheduler/lease_table.h"
#include "scheduler/next_work.h"
#include "scheduler/request_table.h"
#include "scheduler/scheduler.h"
#include "scheduler/worker_table.h"

/// What Scheduler is inside. Only scheduler/ includes it: scheduler.cc (a step, ticks),
/// client_events.cc, worker_events.cc, report_events.cc, attempt_life.cc (attempts, trials,
/// experiments), work_assignment.cc, restore.cc.
namespace rung {

class Scheduler::State {
 public:
  explicit State(SchedulerConfig config) : config_(config) {}

  absl::Status Restore(const Snapshot& snapshot, Now now, const SpecReader& parse,
                       const ObjectiveReader& objective);
  Output Step(const Event& event, Now now);
  std::string Describe() const;
  const std::map<ExperimentId, std::string>& not_loaded() const { return not_loaded_; }

 private:
  /// An attempt that is its trial's newest; both null where it is not.
  struct Target {
    ExperimentRecord* experiment = nullptr;
    TrialRecord* trial = nullptr;
    bool live() const { return trial != nullptr && trial->live(); }
  };
  /// Where an attempt begins.
  struct Resume {
    Steps step = 0;
    std::string path;                    ///< empty: from step 0
    std::optional<std::string> only_on;  ///< the one worker that has the checkpoint
  };
  struct AttemptEnd {
    AttemptState state = AttemptState::kExited;
    ExitCause cause = ExitCause::kCompleted;
    std::optional<int32_t> exit_code;
    std::string message;
  };
  struct Told {
    Decision decision = Decision::kContinue;
    std::string reason;
    std::chrono::milliseconds grace{0};
  };

  // client_events.cc
  void On(const CreateExperiment& e);
  void On(const StopExperiment& e);
  void On(const StopTrial& e);
  void On(const StartTrial& e);
  void On(const ClientReport& e);
  void On(const KeepAlive& e);
  void On(const FinishTrial& e);
  void Answer(ReplyToken token, absl::StatusOr<ReplyValue> value);
  bool AnswerRepeat(ReplyToken token, const std::string& request_id, const std::string& method);
  void Remember(const std::string& request_id, const std::string& method, std::string answer);
  absl::StatusOr<ReplyValue> AnswerOf(const RequestRow& request);
  absl::Status CheckHasEnded(ExperimentId id) const;
  absl::Status CheckCanStart(const StartTrial& e, const ExperimentRecord& experiment) const;
  TrialRecord* NextForClient(ExperimentRecord& experiment);
  absl::StatusOr<Target> FindClientAttempt(AttemptId id);
  void RenewClientLease(const TrialRecord& trial);
  static TrialStarted StartedAnswer(const ExperimentRecord& experiment, const TrialRecord& trial);

  // worker_events.cc
  void On(const WorkerConnected& e);
  void On(const WorkerDisconnected& e);
  void On(const WorkerGoodbye& e);
  void On(const WorkerHeartbeat& e);
  void On(const AttemptStarted& e);
  void On(const CheckpointReported& e);
  void On(const AttemptExited& e);
  WorkerRecord* Heard(SessionId session);
  std::optional<std::string> WhyRefused(const WorkerConnected& e);
  void Reconcile(WorkerRecord& worker, const std::vector<HeldAttempt>& held, bool new_incarnation);
  void ReconcileMissing(WorkerRecord& worker, ExperimentRecord& experiment, TrialRecord& trial,
                        bool new_incarnation);
  void LoseWorker(const std::string& name);
  void LoseAttemptsOn(const WorkerRecord& worker, const std::string& why);
  std::string StoreCheckpoint(const CheckpointReported& e, const WorkerRecord& worker);
  void Send(const std::string& worker, WorkerCommand command);
  bool RunsOn(const Target& target, const WorkerRecord& worker) const;

  // report_events.cc
  void On(const WorkerReport& e);
  void On(const RankExited& e);
  void AnswerLate(const WorkerReport& e, const WorkerRecord& worker);
  absl::StatusOr<std::vector<MetricValue>> CheckReport(const ExperimentRecord& experiment,
                                                       const TrialRecord& trial, int32_t rank,
                                                       Steps step,
                                                       const std::vector<MetricValue>& metrics);
  absl::Status CheckRepeat(const ExperimentRecord& experiment, const AttemptRecord& attempt,
                           int32_t rank, Steps step, const MetricValue& metric, bool& known) const;
  void DrainSteps(ExperimentRecord& experiment, TrialRecord& trial);
  void StoreStep(ExperimentRecord& experiment, TrialRecord& trial, Steps step,
                 const std::vector<ReducedValue>& values);
  void Supersede(ExperimentRecord& experiment, TrialRecord& trial);
  void Judge(ExperimentRecord& experiment, TrialRecord& trial, Steps step,
             std::optional<double> objective);
  void LogDecisions(ExperimentRecord& experiment, const TrialRecord& trial,
                    const std::vector<DecisionRecord>& records);
  void SendAnswer(const TrialRecord& trial, Steps step, std::vector<uint64_t> report_ids,
                  const Told& told);
  Told ToldAt(const ExperimentRecord& experiment, const TrialRecord& trial, Steps step,
              bool repeated) const;

  // attempt_life.cc
  void Assign(ExperimentRecord& experiment, TrialRecord& trial, const std::string& worker);
  void AssignToClient(ExperimentRecord& experiment, TrialRecord& trial, const StartTrial& e);
  void BeginAttempt(ExperimentRecord& experiment, TrialRecord& trial, AttemptRecord attempt);
  static std::vector<CheckpointRow>::const_iterator ResumedFrom(const TrialRecord& trial);
  void DropCheckpoint(TrialRecord& trial);
  StartAttempt StartCommand(const ExperimentRecord& experiment, const TrialRecord& trial) const;
  StopAttempt StopCommand(const ExperimentRecord& experiment, const TrialRecord& trial) const;
  void MarkRunning(ExperimentRecord& experiment, TrialRecord& trial);
  void EndAttempt(ExperimentRecord& experiment, TrialRecord& trial, const AttemptEnd& end);
  void AfterExit(ExperimentRecord& experiment, TrialRecord& trial, ExitCause cause);
  void BackOff(ExperimentRecord& experiment, const std::string& worker, const std::string& why);
  void EndBackOffs(ExperimentRecord& experiment);
  void LoseAttempt(ExperimentRecord& experiment, TrialRecord& trial, const std::string& why);
  void AfterFailure(ExperimentRecord& experiment, TrialRecord& trial);
  void AfterLoss(ExperimentRecord& experiment, TrialRecord& trial);
  void StopNow(ExperimentRecord& experiment, TrialRecord& trial);
  void Pause(TrialRecord& trial, Steps level);
  void Promote(ExperimentRecord& experiment, TrialRecord& trial, Grant grant);
  void EndTrial(ExperimentRecord& experiment, TrialRecord& trial, TrialState state,
                const std::string& reason);
  static void Settle(TrialRecord& trial);
  void PauseIfHopeless(ExperimentRecord& experiment);
  void BeginStopping(ExperimentRecord& experiment, const std::string& reason);
  void EndIfDone(ExperimentRecord& experiment);

  // work_assignment.cc
  void AssignWork();
  void QueueAhead(ExperimentRecord& experiment);
  WorkDemand DemandOf(ExperimentRecord& experiment, const TrialRecord* leaving) const;
  void AddPromotions(ExperimentRecord& experiment, const TrialRecord* leaving,
                     WorkDemand& demand) const;
  static bool IsDrainDue(ExperimentRecord& experiment);
  std::optional<Grant> GrantOnArrival(ExperimentRecord& experiment, const TrialRecord& trial);
  Resume ResumeOf(const ExperimentRecord& experiment, const TrialRecord& trial) const;
  void Explain(const std::vector<WorkDemand>& demands, const std::vector<WorkerOffer>& offer);
  void SetWaitingReason(TrialRecord& trial, const std::string& reason);
  double GpuSecondsOf(const ExperimentRecord& experiment) const;

  // scheduler.cc
  void On(const Tick& e);
  Output TakeOutput();
  ExperimentRecord* FindExperiment(ExperimentId id);
  Target FindAttempt(AttemptId id);
  void Touch(const ExperimentRecord& experiment);
  void Touch(const TrialRecord& trial);
  void TouchAttempt(const TrialRecord& trial);
  void Touch(const WorkerRecord& worker);
  void Log(Write write) { log_.push_back(std::move(write)); }
  void LogEvent(const ExperimentRecord& experiment, std::string kind, std::string message);
  void LogEvent(const TrialRecord& trial, std::string kind, std::string message);
  void LogEvent(AttemptId attempt, std::string kind, std::string message);

  // restore.cc
  void LeaveOut(ExperimentRow row, const absl::Status& refusal, Now now);
  static absl::StatusOr<std::unique_ptr<ExperimentRecord>> MakeExperiment(ExperimentRow row,
                                                                          ExperimentSpec spec);
  absl::Status RestoreExperiment(const ExperimentSnapshot& snapshot, Now now, ExperimentSpec spec,
                                 const ObjectiveReader& objective);
  absl::Status RestoreAttempt(ExperimentRecord& experiment, const AttemptRow& row, Now now);
  static void RestoreMetrics(ExperimentRecord& experiment, const ExperimentSnapshot& snapshot);
  static absl::Status RestoreRule(ExperimentRecord& experiment, const ExperimentSnapshot& snapshot,
                                  const ObjectiveReader& objective);
  static void RestoreAnswers(ExperimentRecord& experiment, TrialRecord& trial,
                             const ExperimentSnapshot& snapshot);

  SchedulerConfig config_;
  ExperimentId last_experiment_id_;
  std::map<ExperimentId, std::unique_ptr<ExperimentRecord>> experiments_;
  std::map<ExperimentId, std::string> not_loaded_;  ///< and why
  WorkerTable workers_;
  LeaseTable leases_;
  RequestTable requests_;
  std::optional<MonoTime> forget_requests_at_;
  bool assign_work_ = false;  ///< something changed that may let a queued trial run

  // Of the step in progress.
  Now now_;
  std::vector<Message> messages_;
  std::vector<Write> log_;
  std::set<ExperimentId> changed_;  ///< watchers look again
  std::set<ExperimentId> touched_experiments_;
  std::set<TrialId> touched_trials_;
  std::map<AttemptId, AttemptRow> touched_attempts_;
  std::set<std::string> touched_workers_;
};

}  // namespace rung
