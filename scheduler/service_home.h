#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/caller.h"

/// The folder of a scheduler's state (INTERFACES.md §1): database, socket, token, and
/// scheduler.json that says where the running one is.
namespace rung {

/// What scheduler.json holds, as one JSON object of these names.
struct ServiceRecord {
  int64_t pid = 0;
  std::vector<std::string> addresses;  ///< as gRPC takes them: "unix:/…", "127.0.0.1:7070"
  std::string database;
  std::string version;
  int64_t started_us = 0;
};

class ServiceHome {
 public:
  /// $RUNG_HOME, else $XDG_DATA_HOME/rung, else ~/.local/share/rung; made with mode 0700 if it is
  /// missing, and closed to others if it is this user's own.
  /// Errors: FAILED_PRECONDITION saying what to do; also for a path that is not UTF-8, which no
  /// client could be told.
  static absl::StatusOr<ServiceHome> Open();
  static absl::StatusOr<ServiceHome> Open(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path database() const { return folder_ / "rung.db"; }
  std::filesystem::path token_file() const { return folder_ / "token"; }
  std::filesystem::path record_file() const { return folder_ / "scheduler.json"; }

  /// `rung.sock` in the folder. A path over 100 bytes (the kernel takes 107) moves to a 0700 folder
  /// under $XDG_RUNTIME_DIR or /tmp, named after this one. Errors: FAILED_PRECONDITION.
  absl::StatusOr<std::filesystem::path> SocketPath() const;

  /// Removes the socket, and the folder that SocketPath made for it if it is empty then.
  void RemoveSocket(const std::filesystem::path& socket) const;

  /// The tokens of the token file: lines `name:secret`, `#` begins a comment. A missing file is
  /// made, mode 0600, with one random secret for `login`.
  /// Errors: FAILED_PRECONDITION for a file that others can read or a line of another form.
  absl::StatusOr<std::vector<Token>> Tokens(const std::string& login) const;

  /// Replaces scheduler.json at once: a reader sees the old or the new one.
  absl::Status WriteRecord(const ServiceRecord& record) const;
  void RemoveRecord() const;

 private:
  explicit ServiceHome(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

/// The user's login name, or "uid N" where the system knows none.
std::string LoginName();

}  // namespace rung
