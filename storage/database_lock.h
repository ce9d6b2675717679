#pragma once

#include <absl/status/statusor.h>

#include <filesystem>
#include <optional>
#include <string_view>

/// One scheduler a database file.
namespace rung {

/// Holds `<database>.lock`, a file beside the database with the holder's process id, by flock(2):
/// the kernel gives it up when the process ends, however it ends.
class DatabaseLock {
 public:
  /// `database` is an absolute path without symbolic links; the file need not exist.
  /// Errors: FAILED_PRECONDITION naming the file and the process that holds it; that of the system
  /// call if the lock file cannot be made.
  static absl::StatusOr<DatabaseLock> Acquire(const std::filesystem::path& database);

  DatabaseLock(DatabaseLock&& other) noexcept;
  DatabaseLock& operator=(DatabaseLock&& other) noexcept;
  ~DatabaseLock();

 private:
  explicit DatabaseLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

/// The name of the network or cluster file system with this statfs(2) `f_type`; nullopt for others.
/// SQLite's write-ahead log needs memory that all its processes share, so it cannot work there.
std::optional<std::string_view> NetworkFileSystemName(int64_t type);

/// Errors: FAILED_PRECONDITION if `folder` is on a network file system; NOT_FOUND if it is missing.
absl::Status CheckFileSystem(const std::filesystem::path& folder);

}  // namespace rung
