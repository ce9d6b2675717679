#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/time.h"
#include "trial_runner/worker/effect.h"
#include "trial_runner/worker/event.h"
#include "trial_runner/worker/limits.h"

/// The reports of one attempt between its ranks and the scheduler (INTERFACES.md §3).
///
/// A report is kept until the scheduler has answered it, through any outage; its rank is answered
/// when the scheduler did, or after Limits::report_wait. All ranks get one answer for a step: the
/// first that any of them was given. A decision that comes after a step was answered `continue` is
/// the answer to later steps; in a gang of one process, to its next report.
///
/// With a reduction, ranks that report different names wait for each other. When every rank waits,
/// none of them can complete a value: they wait for report_wait, not for rank_wait, and the values
/// are completed by their going on.
///
/// A rank that is gone may have left thousands of reports whose answers nobody reads: they are sent
/// a window at a time, and no event costs more than what waits or is in flight.
namespace rung::worker {

class ReportWindow {
 public:
  ReportWindow(AttemptId attempt, int32_t processes, Reduce reduce, const Limits& limits)
      : attempt_(attempt), processes_(processes), reduce_(reduce), limits_(limits) {}

  /// `report_id` grows from call to call. `connected`: the report is sent, at once where its rank's
  /// window has room.
  void Add(uint64_t report_id, RankReport report, bool connected, MonoTime now, Effects& out);
  /// The scheduler's answer; of reports that are not known (any more) it ends nothing.
  void Answer(const ReportAnswered& answer, MonoTime now, Effects& out);
  /// From here on later steps are answered with `decision`. The first decision stands.
  void Decide(Decision decision, MonoTime now, Effects& out);
  /// Values that wait for this rank need not any more.
  void OnRankExited(int32_t rank, MonoTime now, Effects& out);
  /// Nobody is left to be answered; what is not delivered stays.
  void DropRequests();

  /// Sends again what the scheduler has not answered: all of it in the order of arrival (the stream
  /// is a new one), or what is due.
  void Resend(bool all, MonoTime now, Effects& out);
  /// Answers ranks that have waited long enough.
  void OnTime(MonoTime now, Effects& out);
  std::optional<MonoTime> NextDeadline(bool connected) const;

  /// The scheduler has answered every report.
  bool Delivered() const { return undelivered_ == 0; }
  /// The highest step of which the scheduler has stored a report; 0 for none.
  Steps last_stored_step() const { return last_stored_step_; }

 private:
  struct Pending {
    RankReport report;
    bool forwarded = false;  ///< the scheduler is to answer it
    bool waiting = true;     ///< the rank is to be answered
    MonoTime deadline{};     ///< of the rank's wait
    MonoTime sent{};         ///< of one in flight
  };
  using PendingMap = std::map<uint64_t, Pending>;
  /// What a rank has on its way to the scheduler.
  struct Traffic {
    std::set<uint64_t> unsent{};  ///< waits for the stream, or for room in the window
    size_t in_flight = 0;
    size_t kept = 0;  ///< undelivered, and their rank waits no more
  };

  bool Forwards(int32_t rank) const { return reduce_ != Reduce::kRank0 || rank == 0; }
  /// What a rank that reports `step` is told now, by the rules above.
  Decision AnswerFor(Steps step) const;
  bool IsDecided(Steps step) const;
  /// Ends the rank's wait; `id` may be forgotten by it.
  void GiveDecision(uint64_t id, bool durable, Effects& out);
  /// Ranks whose values nobody records wait for the answer to their step; now it is there.
  void AnswerFollowers(bool durable, Effects& out);
  bool EveryRankWaits() const;
  void NoteReported(const RankReport& report);
  bool IsComplete(const RankReport& report) const;
  /// Starts report_wait for waiting reports that became complete.
  void ShortenWaits(MonoTime now);
  /// Sends what the windows of the ranks have room for, in the order of arrival.
  void SendNext(MonoTime now, Effects& out);
  void Send(uint64_t id, MonoTime now, Effects& out);
  bool MayAnswerUnstored(const Pending& pending) const;
  /// Those whose ranks wait, to be walked over while answers take some out.
  std::vector<uint64_t> Waiting() const { return {waiting_.begin(), waiting_.end()}; }
  void EndWait(uint64_t id);
  void EndForwarding(uint64_t id);
  void TellLateRefusal(const Pending& pending, const std::string& error, Effects& out);

  AttemptId attempt_;
  int32_t processes_;
  Reduce reduce_;
  const Limits& limits_;

  PendingMap pending_;          ///< by report id, which is the order of arrival
  std::set<uint64_t> waiting_;  ///< of pending_
  std::set<std::pair<MonoTime, uint64_t>> in_flight_;  ///< of pending_, by when they were sent
  std::map<int32_t, Traffic> traffic_;                 ///< by rank
  size_t undelivered_ = 0;                             ///< of pending_: forwarded
  size_t late_refusals_ = 0;

  std::map<Steps, Decision> answered_{};  ///< the first answer of a step; unused with one process
  Steps last_continued_ = -1;             ///< highest step that a rank was told to continue from
  std::optional<Decision> decision_;
  Steps decided_from_ = 0;  ///< the first step that is answered with decision_

  Steps last_reported_ = -1;                            ///< by any rank; lower steps are complete
  Steps rank0_reported_ = -1;                           ///< by rank 0
  std::map<std::string, std::set<int32_t>> reporters_;  ///< of last_reported_, by metric
  bool rank_exited_ = false;
  bool rank0_exited_ = false;
  Steps last_stored_step_ = 0;
};

}  // namespace rung::worker
