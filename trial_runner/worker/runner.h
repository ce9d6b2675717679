#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/resources.h"
#include "core/time.h"
#include "trial_runner/worker/effect.h"
#include "trial_runner/worker/event.h"
#include "trial_runner/worker/limits.h"
#include "trial_runner/worker/report_window.h"

/// What a worker does with its attempts: start, watch, forward, stop. Pure: a step is a function of
/// the state, the event and the time.
///
///   Assigned ─▶ Starting ─▶ Running ─▶ Stopping ─▶ Exited ─▶ (forgotten)
///     waits for resources │    │ every rank started       │ acknowledged
///                         │    └ a decision, StopAttempt, or a rank failed: Stopping
///                         └ could not start, or refused: Exited
///
/// - A gang starts whole or not at all. When a rank fails, its peers get SIGTERM at once and
///   SIGKILL after `failure_grace`, also after a decision to stop or pause.
/// - A stop or pause decision waits the grace that came with it for the trial to end by itself,
///   then SIGTERM to the leaders, `grace` again, then SIGKILL to everything; StopAttempt at once
///   starts at SIGTERM.
/// - An exit is told after the answers to all reports of its attempt, and until acknowledged.
/// - A lost scheduler changes nothing for running trials. Attempts that it does not keep when it
///   is back are killed without a report: their number is stale.
/// - A daemon that is ended tells the exits that came before, for exit_wait. Of attempts that it
///   ends itself it tells nothing: the scheduler is to see them lost, and queue them again.
namespace rung::worker {

class Runner {
 public:
  Runner(Resources total, Limits limits) : total_(total), limits_(limits) {}
  Runner(const Runner&) = delete;  // its attempts refer to its limits
  Runner& operator=(const Runner&) = delete;

  Effects Step(const Event& event, MonoTime now);

  /// When the next Tick is due; nullopt while nothing waits.
  std::optional<MonoTime> NextDeadline() const;
  /// No process of any attempt is left.
  bool NoProcessLeft() const;
  /// After ShutdownRequested: no process is left, and no exit that is still to be told.
  bool MayEnd() const;
  /// No attempt, not even one whose exit the scheduler has not acknowledged.
  bool HoldsNothing() const { return attempts_.empty(); }

 private:
  enum class RankState { kStarting, kRunning, kExited, kGone };
  struct Rank {
    RankState state = RankState::kStarting;
    bool signalled = false;  ///< by us, before it exited
    int32_t exit_code = 0;   ///< 128 + signal for a signal
    int32_t signal = 0;
    std::string stderr_tail;
  };
  struct Checkpoint {
    TellCheckpoint message;
    RequestId request;
    MonoTime sent{};
  };
  struct Attempt {
    AttemptSpec spec;
    AttemptState state = AttemptState::kAssigned;
    ReportWindow window;
    std::map<uint64_t, Checkpoint> checkpoints{};  ///< not yet acknowledged
    std::vector<Rank> ranks{};
    bool launched = false;  ///< it holds resources until every rank is gone
    MonoTime launch_by{};
    bool stop_wanted = false;
    bool discarded = false;             ///< killed without a report
    bool cut_short = false;             ///< ended with the daemon: its exit is not told
    std::optional<MonoTime> term_at{};  ///< SIGTERM to the leaders
    std::optional<MonoTime> kill_at{};  ///< SIGKILL to everything
    std::chrono::milliseconds kill_grace{0};
    int32_t failed_rank = -1;
    std::optional<ExitCause> start_failure{};
    std::string message{};
    std::optional<TellExited> exit{};
    bool exit_sent = false;
    MonoTime exit_due{};  ///< without the answers to its reports; when sent: to be repeated
  };
  using AttemptMap = std::map<AttemptId, Attempt>;

  void OnConnected(Effects& out);
  void OnWelcomed(const Welcomed& event, MonoTime now, Effects& out);
  void OnStartAttempt(const StartAttempt& event, MonoTime now);
  void OnStopAttempt(const StopAttempt& event, MonoTime now, Effects& out);
  void OnReportAnswered(const ReportAnswered& event, MonoTime now, Effects& out);
  void OnCheckpointAcknowledged(const CheckpointAcknowledged& event, Effects& out);
  void OnLaunchFailed(const LaunchFailed& event, MonoTime now, Effects& out);
  void OnRankStarted(const RankStarted& event, Effects& out);
  void OnRankCouldNotStart(const RankCouldNotStart& event, MonoTime now, Effects& out);
  void OnRankExited(const RankExited& event, MonoTime now, Effects& out);
  void OnRankGone(const RankGone& event, MonoTime now, Effects& out);
  void OnReport(const RankReport& event, MonoTime now, Effects& out);
  void OnCheckpoint(const CheckpointWritten& event, MonoTime now, Effects& out);
  void OnShutdown(MonoTime now, Effects& out);
  void OnTick(MonoTime now, Effects& out);

  Attempt* Find(AttemptId id);
  /// As Find, for an attempt with this rank.
  Attempt* FindRank(AttemptId id, int32_t rank);
  bool Fits(const AttemptSpec& spec) const;
  /// Its exit is, or will be, the scheduler's to know.
  static bool IsToBeTold(const Attempt& attempt);
  /// Launches waiting attempts, oldest number first, as far as they fit.
  void LaunchWaiting(Effects& out);
  /// SIGTERM `first_grace` from now at the latest, SIGKILL `kill_grace` after it.
  void WantStop(Attempt& attempt, std::chrono::milliseconds first_grace,
                std::chrono::milliseconds kill_grace, MonoTime now, Effects& out);
  void Terminate(Attempt& attempt, MonoTime now, Effects& out);
  void Kill(Attempt& attempt, Effects& out);
  /// If every rank is gone: frees what it held and makes the exit.
  void CloseIfGone(Attempt& attempt, MonoTime now, Effects& out);
  TellExited ExitOf(const Attempt& attempt) const;
  void TellExitIfDue(Attempt& attempt, MonoTime now, Effects& out);
  void SendCheckpoint(Checkpoint& checkpoint, MonoTime now, Effects& out) const;
  /// Discarded attempts without processes are forgotten; their resources go to others.
  void Settle(MonoTime now, Effects& out);

  Resources total_;
  Limits limits_;
  bool connected_ = false;  ///< welcomed by the scheduler, and the stream stands
  bool shutting_down_ = false;
  MonoTime tell_until_{};  ///< of exits, while shutting down
  uint64_t next_report_id_ = 1;
  AttemptMap attempts_;
};

}  // namespace rung::worker
