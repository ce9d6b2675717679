#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "rung/v1/workers.grpc.pb.h"
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

  const WorkerSessionsConfig config_;
  Server& server_;
  const Server::Clock clock_;

  absl::Mutex mutex_;
  uint64_t last_session_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Stream*> streams_ ABSL_GUARDED_BY(mutex_);
};

/// Errors: FAILED_PRECONDITION unless both are MAJOR.MINOR.PATCH of one major version and at most
/// one minor version apart.
absl::Status CheckVersions(std::string_view worker, std::string_view scheduler);

}  // namespace rung
