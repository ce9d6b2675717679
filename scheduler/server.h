#pragma once

#include <absl/status/status.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "core/time.h"
#include "scheduler/event_queue.h"
#include "scheduler/fault_log.h"
#include "scheduler/message_sink.h"
#include "scheduler/running_time.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

namespace rung {

struct ServerConfig {
  size_t events_waiting_max = 16'384;  ///< more are refused with UNAVAILABLE
  size_t events_per_commit_max = 4'096;
  std::chrono::milliseconds tick_interval{200};
  /// Longer without a turn of the loop: the process was stopped (running_time.h).
  std::chrono::milliseconds gap_max{1'000};
  std::chrono::milliseconds probe_interval{1'000};  ///< between tries after a commit failed
};

/// THE loop: take what waits, step, commit, send. One thread owns the state and the writer.
///
/// An answer is a promise that survives kill -9: messages leave only after the commit of the batch
/// that they belong to. When a commit fails the batch's messages and the state in memory are thrown
/// away; reads go on, writes are refused with UNAVAILABLE, and the state is rebuilt by the start-up
/// path as soon as the storage takes a write again.
class Server {
 public:
  using Clock = std::function<Now()>;

  /// The references outlive the server.
  Server(const ServerConfig& config, const SchedulerConfig& scheduler_config, Storage& storage,
         MessageSink& sink, Clock clock);

  /// Any thread. Errors: UNAVAILABLE (too many events wait, stopping, or the storage fails): trying
  /// again helps. A caller named in a posted event is always answered.
  absl::Status Post(Event event);
  /// For the end of a stream: never refused for want of room.
  void PostDisconnected(SessionId session);

  /// The start-up path; before Run. Errors: those of Storage::Load and Scheduler::Restore.
  absl::Status Restore();

  /// Until Stop (OK; every event posted before it is stepped and committed) or until the database
  /// turns out corrupt (DATA_LOSS).
  absl::Status Run();
  void Stop() { queue_.Close(); }

 private:
  absl::Status Loop();
  absl::Status CommitAndSend(const std::vector<Event>& events, Now now);
  absl::Status Recover(const absl::Status& failure, const std::vector<Event>& events);
  /// Says that commits fail: not as often as it is tried.
  void LogFailure(const absl::Status& failure);
  void Refuse(const std::vector<Event>& events, const absl::Status& status);
  bool TickIsDue(MonoTime now);
  /// The present of a turn of the loop, in running time.
  Now Present();

  // Constant after construction.
  const ServerConfig config_;
  const SchedulerConfig scheduler_config_;
  Storage& storage_;
  MessageSink& sink_;
  const Clock clock_;

  EventQueue queue_;
  std::atomic<bool> storage_fails_{false};

  // The loop thread's own.
  std::optional<Scheduler> scheduler_;
  RunningTime running_time_;
  FaultLog failures_;  ///< of commits
  std::optional<MonoTime> last_tick_;
};

}  // namespace rung
