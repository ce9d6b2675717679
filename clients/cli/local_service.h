#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "clients/cli/home.h"

/// The scheduler and the worker of `rung local`: daemons of this machine with their state in the
/// home folder.
namespace rung::cli {

struct LocalOptions {
  std::vector<std::string> listen;     ///< more endpoints of the scheduler, besides the socket
  bool insecure_network = false;       ///< allow `listen` beyond loopback
  std::optional<int64_t> cpus;         ///< CPUs that the worker offers; all unless given
  std::string log_level;               ///< of both
  std::chrono::milliseconds patience;  ///< until both answer, or until each has ended
};

struct LocalStatus {
  std::optional<DaemonRecord> scheduler;  ///< nullopt: it does not run
  std::optional<DaemonRecord> worker;     ///< nullopt: it does not run
  bool answers = false;                   ///< the scheduler answers calls
  bool worker_connected = false;          ///< it has a worker of this machine
};

class LocalService {
 public:
  /// What is done is said on `log`, a sentence a line.
  LocalService(Home home, std::ostream& log) : home_(std::move(home)), log_(log) {}

  /// Starts what does not run and waits until the scheduler answers and the worker is connected.
  /// Errors: NOT_FOUND when a program is missing, and with the end of its log what a daemon that
  /// ended or did not answer in time said.
  absl::Status Up(const LocalOptions& options);

  /// Ends the worker, then the scheduler: SIGTERM, and SIGKILL after the patience for each. Says
  /// first what becomes of the trials that run.
  absl::Status Down(std::chrono::milliseconds patience);

  LocalStatus Inspect() const;

 private:
  absl::Status StartScheduler(const LocalOptions& options);
  absl::Status StartWorker(const LocalOptions& options);
  void TellWhatRuns(const DaemonRecord& worker) const;
  absl::StatusOr<bool> End(const std::string& program, const std::optional<DaemonRecord>& record,
                           std::chrono::milliseconds patience);

  Home home_;
  std::ostream& log_;
};

}  // namespace rung::cli
