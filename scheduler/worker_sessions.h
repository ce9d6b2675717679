#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "rung/v1/workers.grpc.pb.h"
#include "scheduler/fault_log.h"
#include "scheduler/server.h"
#include "scheduler/session_codec.h"

/// The open streams of Workers.Session.
namespace rung {

struct WorkerSessionsConfig {
  SessionTimes times;
  std::chrono::milliseconds hello_timeout{10'000};
  size_t sessions_max = 10'000;
  size_t outgoing_messages_max = 4'096;  ///< of one session; a worker that takes no more is cut off
};

/// Streams register themselves; the loop, the log relay and the ticker find them here. Any thread.
class WorkerSessions {
 public:
  using Reactor = grpc::ServerBidiReactor<v1::WorkerMessage, v1::SchedulerMessage>;

  /// `server` outlives this object, and this object every stream.
  WorkerSessions(const WorkerSessionsConfig& config, Server& server, Server::Clock clock);

  /// The reactor of a new stream; it deletes itself when the stream is done. `refusal` not OK: the
  /// stream ends with it at once.
  Reactor* Open(grpc::CallbackServerContext* context, const absl::Status& refusal);

  /// Dropped when the session is gone. RefuseWorker ends it.
  void Send(SessionId session, const WorkerCommand& command);
  /// To the newest session of the worker; false when none is open.
  bool SendTo(std::string_view worker, v1::SchedulerMessage message);

  /// Ends all streams; new ones still come in.
  void EndAll(const absl::Status& status);
  /// Ends streams that owe their Hello for longer than hello_timeout.
  void Poll();

 private:
  class Stream;

  /// A worker connects again each second for as long as it is refused: not each end is logged.
  void LogEnd(const std::string& worker, const std::string& reason);

  const WorkerSessionsConfig config_;
  Server& server_;
  const Server::Clock clock_;

  absl::Mutex mutex_;
  uint64_t last_session_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Stream*> streams_ ABSL_GUARDED_BY(mutex_);

  absl::Mutex log_mutex_;  ///< taken last
  std::map<std::pair<std::string, std::string>, FaultLog> ends_ ABSL_GUARDED_BY(log_mutex_);
};

}  // namespace rung
