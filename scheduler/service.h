#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/experiment_watches.h"
#include "scheduler/log_relay.h"
#include "scheduler/read_pool.h"
#include "scheduler/report_streams.h"
#include "scheduler/scheduler.h"
#include "scheduler/server.h"
#include "scheduler/service_home.h"
#include "scheduler/worker_sessions.h"

namespace rung {

struct ServiceConfig {
  std::filesystem::path database;   ///< empty: rung.db in the home
  std::vector<std::string> listen;  ///< "unix" (always there) or HOST:PORT
  bool insecure_network = false;    ///< TCP beyond loopback, unencrypted
  SchedulerConfig scheduler;
  ServerConfig server;
  WorkerSessionsConfig sessions;  ///< `times` is derived from the lease
  ExperimentWatchesConfig watches;
  LogRelayConfig logs;
  ReportStreamsConfig reports;
  ReadPoolConfig pool;
  std::chrono::milliseconds stop_timeout{3'000};  ///< for calls in progress, at the end
};

/// A whole scheduler: database, loop, gRPC.
class Service {
 public:
  /// Opens the database, rebuilds the state, listens, and writes scheduler.json. The database's
  /// lock comes first: whoever holds it may replace a dead scheduler's socket.
  /// Errors say what to do: FAILED_PRECONDITION (database in use or not ours, token file, TCP
  /// beyond loopback), UNAVAILABLE (address in use), INVALID_ARGUMENT (listen), DATA_LOSS.
  static absl::StatusOr<std::unique_ptr<Service>> Start(const ServiceHome& home,
                                                        const ServiceConfig& config);
  /// Run must have returned, or never been called.
  ~Service();

  /// The loop, on this thread, until Stop. Errors: those of Server::Run.
  absl::Status Run();
  /// Any thread, once: ends the streams, lets calls in progress end, then the loop.
  void Stop();

  /// As gRPC takes them, the Unix socket first.
  const std::vector<std::string>& addresses() const;

 private:
  struct Parts;
  explicit Service(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace rung
