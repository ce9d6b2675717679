#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

/// Long-running programs of this machine: found, started apart from this process, ended.
namespace rung::cli {

/// Whether process `pid` lives, runs `program`, and has `lock_file` open, which a daemon holds from
/// its start to its end: a pid that some other process was given since is not it. Start times are
/// not compared: in terms of the wall clock they move with every step of it.
bool IsDaemon(int64_t pid, const std::string& program, const std::filesystem::path& lock_file);

/// `program` beside this command's own binary, else on PATH.
/// Errors: NOT_FOUND that says where it was looked for.
absl::StatusOr<std::filesystem::path> FindProgram(const std::string& program);

struct DaemonCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> env;  ///< added to this process's own
  std::filesystem::path folder;                          ///< its current folder
  std::filesystem::path log;                             ///< stdout and stderr are appended, 0600
};

/// Starts a session leader without a terminal, stdin empty, no other open file. Errors: INTERNAL.
absl::StatusOr<pid_t> StartDaemon(const DaemonCommand& command);

/// "exited with status 1" once the child `pid` of this process has ended, else empty.
std::string ChildEnd(pid_t pid);

enum class DaemonEnd { kTerminated, kKilled };
/// SIGTERM, and SIGKILL after `patience`; returns when the process is gone.
/// Errors: DEADLINE_EXCEEDED when SIGKILL did not end it either, PERMISSION_DENIED.
absl::StatusOr<DaemonEnd> EndDaemon(pid_t pid, const std::string& program,
                                    const std::filesystem::path& lock_file,
                                    std::chrono::milliseconds patience);

/// The last `lines` lines of `log`, of its last 16 KiB.
std::string LogEnd(const std::filesystem::path& log, size_t lines);

}  // namespace rung::cli
