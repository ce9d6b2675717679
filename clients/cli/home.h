#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// The folder of the local service: database, socket, token, logs and what its daemons say of
/// themselves.
namespace rung::cli {

/// What a daemon wrote about itself: scheduler.json or worker.json.
struct DaemonRecord {
  int64_t pid = 0;
  std::vector<std::string> addresses;  ///< of the scheduler
  std::string database;                ///< of the scheduler
  std::string version;
  std::string name;                 ///< of the worker
  std::filesystem::path lock_file;  ///< what it holds open from its start to its end
};

class Home {
 public:
  /// $RUNG_HOME, else $XDG_DATA_HOME/rung, else ~/.local/share/rung.
  /// Errors: FAILED_PRECONDITION when none of RUNG_HOME, XDG_DATA_HOME and HOME is set.
  static absl::StatusOr<Home> FromEnvironment();
  explicit Home(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path logs() const { return folder_ / "logs"; }
  std::filesystem::path token_file() const { return folder_ / "token"; }
  std::filesystem::path socket() const { return folder_ / "rung.sock"; }

  /// Makes the folder and its logs, 0700. Errors: the file system's.
  absl::Status Create() const;

  /// nullopt when the file is absent or is not what a daemon writes (for instance half written).
  std::optional<DaemonRecord> SchedulerRecord() const;
  std::optional<DaemonRecord> WorkerRecord() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace rung::cli
