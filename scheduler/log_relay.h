#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/ids.h"
#include "rung/v1/tuner.pb.h"
#include "rung/v1/workers.pb.h"
#include "scheduler/read_pool.h"
#include "scheduler/server.h"
#include "scheduler/worker_sessions.h"
#include "storage/database_reader.h"

/// Logs stay on the worker that wrote them; a client that reads one is joined here with the worker.
namespace rung {

struct LogRelayConfig {
  size_t buffered_bytes_max = 1 << 20;  ///< of one fetch; the worker waits while it is full
  size_t fetches_max = 256;
  std::chrono::milliseconds first_data_timeout{10'000};  ///< for the worker to begin its answer
};

/// What is to be read, as the client wrote it.
struct LogQuery {
  TrialId trial;
  std::optional<int32_t> attempt;  ///< the newest unless given
  int32_t rank = 0;
  bool follow = false;
};

/// StreamLogs (client) ← LogRelay ← UploadLog (worker, asked by FetchLog on its session). Any
/// thread.
class LogRelay {
 public:
  using Reader = grpc::ServerWriteReactor<v1::StreamLogsResponse>;
  using Upload = grpc::ServerReadReactor<v1::UploadLogRequest>;

  /// The references outlive this object, and this object every stream.
  LogRelay(const LogRelayConfig& config, const DatabaseReader& reader, ReadPool& pool,
           WorkerSessions& sessions, Server::Clock clock);
  ~LogRelay();

  /// The reactor of a client's stream. A worker that is not connected gives UNAVAILABLE with its
  /// name, unless the database has the last stderr of the rank, which is sent instead.
  Reader* OpenReader(const LogQuery& query, const absl::Status& refusal);
  /// The reactor of a worker's stream; the first message says for which fetch it is.
  Upload* OpenUpload(const absl::Status& refusal);

  /// Ends fetches whose worker does not answer.
  void Poll();
  void EndAll(const absl::Status& status);

 private:
  struct Fetch;
  class ReaderStream;
  class UploadStream;

  struct Source {
    AttemptId attempt;
    std::string worker;
    std::optional<std::string> stored_tail;  ///< stderr of a failed rank
  };
  absl::StatusOr<Source> FindSource(const LogQuery& query) const;

  const LogRelayConfig config_;
  const DatabaseReader& reader_;
  ReadPool& pool_;
  WorkerSessions& sessions_;
  const Server::Clock clock_;

  /// Guards the fetches and both kinds of streams: logs are read by few people at a time.
  absl::Mutex mutex_;
  uint64_t last_fetch_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, std::unique_ptr<Fetch>> fetches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rung
