#include "clients/cli/daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace rung::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval{20};
constexpr std::chrono::seconds kKillPatience{5};
constexpr size_t kLogBytesRead = 16 << 10;
constexpr std::string_view kDeleted = " (deleted)";  // the kernel's mark on a replaced binary

std::string ProgramOf(int64_t pid) {
  std::error_code error;
  std::string exe = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error).string();
  if (exe.ends_with(kDeleted)) exe.resize(exe.size() - kDeleted.size());
  return std::filesystem::path(exe).filename().string();
}

// Whether `pid` has `file` open. Compared by inode: the links of /proc/PID/fd lead to the open file
// itself, whatever name it was opened by.
bool HasOpen(int64_t pid, const std::filesystem::path& file) {
  struct stat wanted {};
  if (stat(file.c_str(), &wanted) != 0) return false;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator entry(fmt::format("/proc/{}/fd", pid), error);
       entry != end; entry.increment(error)) {
    struct stat found {};
    if (stat(entry->path().c_str(), &found) != 0) continue;  // closed meanwhile
    if (found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino) return true;
  }
  return false;
}

std::vector<std::string> Environment(
    const std::vector<std::pair<std::string, std::string>>& additions) {
  std::vector<std::string> env;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced =
        std::any_of(additions.begin(), additions.end(),
                    [&](const auto& addition) { return text.starts_with(addition.first + "="); });
    if (!replaced) env.emplace_back(text);
  }
  for (const auto& [name, value] : additions) env.push_back(name + "=" + value);
  return env;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn's attributes and file actions, freed together.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  explicit SpawnSettings(const DaemonCommand& command) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawn_file_actions_addchdir_np(&actions, command.folder.c_str());
    posix_spawnattr_init(&attributes);
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

}  // namespace

bool IsDaemon(int64_t pid, const std::string& program, const std::filesystem::path& lock_file) {
  return pid > 0 && ProgramOf(pid) == program && HasOpen(pid, lock_file);
}

absl::StatusOr<std::filesystem::path> FindProgram(const std::string& program) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::filesystem::path> folders{own.parent_path()};
  const char* path = std::getenv("PATH");
  std::istringstream entries(path == nullptr ? "" : path);
  for (std::string entry; std::getline(entries, entry, ':');) folders.emplace_back(entry);
  for (const auto& folder : folders) {
    if (folder.empty()) continue;
    const auto candidate = std::filesystem::absolute(folder / program);
    if (std::filesystem::is_regular_file(candidate, error) &&
        access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return absl::NotFoundError(fmt::format("cannot find the program {} in {} or on PATH", program,
                                         own.parent_path().string()));
}

absl::StatusOr<pid_t> StartDaemon(const DaemonCommand& command) {
  std::vector<std::string> arguments{command.program.string()};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> env = Environment(command.env);
  const SpawnSettings settings(command);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, command.program.c_str(), &settings.actions, &settings.attributes,
                  Pointers(arguments).data(), Pointers(env).data());
  if (error != 0) {
    return absl::InternalError(
        fmt::format("cannot start {}: {}", command.program.string(), std::strerror(error)));
  }
  return pid;
}

std::string ChildEnd(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) return "";
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

absl::StatusOr<DaemonEnd> EndDaemon(pid_t pid, const std::string& program,
                                    const std::filesystem::path& lock_file,
                                    std::chrono::milliseconds patience) {
  const auto gone_before = [&](steady_clock::time_point deadline) {
    while (true) {
      ChildEnd(pid);  // it may be a child of ours: a zombie would look alive to kill()
      if (ProgramOf(pid) != program) return true;
      if (steady_clock::now() >= deadline) return false;
      std::this_thread::sleep_for(kPollInterval);
    }
  };
  if (!IsDaemon(pid, program, lock_file)) return DaemonEnd::kTerminated;
  if (kill(pid, SIGTERM) != 0 && errno != ESRCH) {
    return absl::PermissionDeniedError(
        fmt::format("cannot end {} (pid {}): {}", program, pid, std::strerror(errno)));
  }
  if (gone_before(steady_clock::now() + patience)) return DaemonEnd::kTerminated;
  kill(pid, SIGKILL);
  if (gone_before(steady_clock::now() + kKillPatience)) return DaemonEnd::kKilled;
  return absl::DeadlineExceededError(
      fmt::format("{} (pid {}) is still there after SIGKILL", program, pid));
}

std::string LogEnd(const std::filesystem::path& log, size_t lines) {
  std::ifstream stream(log, std::ios::binary | std::ios::ate);
  if (!stream) return "";
  const auto size = static_cast<size_t>(stream.tellg());
  stream.seekg(static_cast<std::streamoff>(size - std::min(size, kLogBytesRead)));
  std::vector<std::string> kept;
  for (std::string line; std::getline(stream, line);) kept.push_back(line);
  std::string text;
  for (size_t i = kept.size() - std::min(lines, kept.size()); i < kept.size(); ++i) {
    text += kept[i] + "\n";
  }
  return text;
}

}  // namespace rung::cli
