#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/ids.h"

/// The folder of one worker: logs, checkpoints, sockets, its lock and worker.json.
namespace rung::worker {

/// What worker.json holds, as one JSON object of these names.
struct WorkerRecord {
  int64_t pid = 0;
  std::string name;
  std::string server;
  std::string version;
};

class WorkerHome {
 public:
  /// $RUNG_HOME, else $XDG_DATA_HOME/rung, else ~/.local/share/rung.
  /// Errors: FAILED_PRECONDITION when none of the variables is set.
  static absl::StatusOr<std::filesystem::path> DefaultFolder();

  /// Makes the folder (mode 0700) if it is missing, locks it until this object is destroyed, waits
  /// at most `patience` for the ranks of a killed worker to end (their GPUs would be given twice),
  /// and sweeps the sockets that it left.
  /// Errors: FAILED_PRECONDITION when another worker holds the lock, with its process id, or ranks
  /// of an earlier one do not end.
  static absl::StatusOr<WorkerHome> Open(
      const std::filesystem::path& folder,
      std::chrono::milliseconds patience = std::chrono::milliseconds(10'000));

  WorkerHome(WorkerHome&& other) noexcept;
  WorkerHome& operator=(WorkerHome&&) = delete;
  ~WorkerHome();

  const std::filesystem::path& folder() const { return folder_; }
  /// A shared lock for shims to inherit: a later worker waits until none has it.
  int ranks_lock_fd() const { return ranks_lock_fd_; }
  std::filesystem::path token_file() const { return folder_ / "token"; }
  /// `logs/12.3.0/rank0.out`; each rank has an `.out` and an `.err`.
  std::filesystem::path LogFolder(AttemptId attempt) const;
  static std::string StdoutName(int32_t rank);
  static std::string StderrName(int32_t rank);
  /// `12.3/attempt0` in `root`, or in this folder's `checkpoints` when `root` is empty.
  std::filesystem::path CheckpointFolder(AttemptId attempt, const std::string& root) const;
  /// At most 100 bytes with common ids: in a short folder when this one's path is long.
  std::filesystem::path SocketPath(AttemptId attempt, int32_t rank) const;

  /// Replaces worker.json at once: a reader sees the old or the new one.
  absl::Status WriteRecord(const WorkerRecord& record) const;
  void RemoveRecord() const;

 private:
  explicit WorkerHome(std::filesystem::path folder) : folder_(std::move(folder)) {}
  absl::Status Lock();
  absl::Status AwaitEarlierRanks(std::chrono::milliseconds patience);
  absl::Status PrepareSockets();

  std::filesystem::path folder_;
  std::filesystem::path sockets_;
  int lock_fd_ = -1;
  int ranks_lock_fd_ = -1;
};

}  // namespace rung::worker
