#include "trial_runner/worker/worker_home.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>

#include "core/check.h"
#include "proto/utf8.h"

namespace rung::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLockPollInterval{50};
constexpr size_t kSocketPathBytesMax = 100;  // the kernel takes 107
constexpr size_t kSocketNameBytesMax = 28;   // "/123456.123456.12-rank1023.s"

const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

absl::Status MakePrivateFolder(const fs::path& folder) {
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  if (!error && mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    error = std::error_code(errno, std::system_category());
  }
  struct stat status {};
  if (!error && lstat(folder.c_str(), &status) != 0) {
    error = std::error_code(errno, std::system_category());
  }
  if (error) {
    return absl::FailedPreconditionError(
        fmt::format("cannot make the folder '{}': {}; name another with --home", folder.string(),
                    error.message()));
  }
  return absl::OkStatus();
}

/// In a place that all users share, a folder of this name may be somebody else's trap.
absl::Status CheckOwn(const fs::path& folder) {
  struct stat status {};
  const bool own = lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                   status.st_uid == geteuid() && (status.st_mode & 077) == 0;
  if (own) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("'{}' is not a folder of this user alone: remove it, or name a shorter --home",
                  folder.string()));
}

/// FNV-1a: the same for one home at every start.
std::string ShortHash(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return fmt::format("{:016x}", hash).substr(0, 8);
}

}  // namespace

absl::StatusOr<fs::path> WorkerHome::DefaultFolder() {
  if (const char* home = Variable("RUNG_HOME")) return fs::path(home);
  if (const char* data = Variable("XDG_DATA_HOME")) return fs::path(data) / "rung";
  if (const char* home = Variable("HOME")) return fs::path(home) / ".local/share/rung";
  return absl::FailedPreconditionError(
      "none of RUNG_HOME, XDG_DATA_HOME and HOME is set: name a folder with --home");
}

absl::StatusOr<WorkerHome> WorkerHome::Open(const fs::path& folder,
                                            std::chrono::milliseconds patience) {
  std::error_code error;
  WorkerHome home(fs::absolute(folder, error).lexically_normal());
  RUNG_RETURN_IF_ERROR(CheckPathIsUtf8(home.folder_.native()));
  RUNG_RETURN_IF_ERROR(MakePrivateFolder(home.folder_));
  RUNG_RETURN_IF_ERROR(home.Lock());
  RUNG_RETURN_IF_ERROR(home.AwaitEarlierRanks(patience));
  RUNG_RETURN_IF_ERROR(home.PrepareSockets());
  return home;
}

WorkerHome::WorkerHome(WorkerHome&& other) noexcept
    : folder_(std::move(other.folder_)),
      sockets_(std::move(other.sockets_)),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      ranks_lock_fd_(std::exchange(other.ranks_lock_fd_, -1)) {}

WorkerHome::~WorkerHome() {
  // Of its own outside the home: goes when it is empty, while the lock keeps another worker out.
  if (lock_fd_ >= 0 && sockets_.parent_path() != folder_) rmdir(sockets_.c_str());
  if (lock_fd_ >= 0) close(lock_fd_);
  if (ranks_lock_fd_ >= 0) close(ranks_lock_fd_);
}

absl::Status WorkerHome::Lock() {
  const fs::path path = folder_ / "worker.lock";
  lock_fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_fd_ < 0) {
    return absl::FailedPreconditionError(
        fmt::format("'{}': {}", path.string(), std::strerror(errno)));
  }
  if (flock(lock_fd_, LOCK_EX | LOCK_NB) == 0) {
    const std::string pid = std::to_string(getpid()) + "\n";
    if (ftruncate(lock_fd_, 0) == 0) {
      [[maybe_unused]] const ssize_t size = pwrite(lock_fd_, pid.data(), pid.size(), 0);
    }
    return absl::OkStatus();
  }
  std::string pid;
  std::ifstream(path) >> pid;
  return absl::FailedPreconditionError(
      fmt::format("another rung-worker (process {}) uses '{}': end it, or name another --home", pid,
                  folder_.string()));
}

absl::Status WorkerHome::AwaitEarlierRanks(std::chrono::milliseconds patience) {
  const fs::path path = folder_ / "ranks.lock";
  ranks_lock_fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  // Exclusive only when no shim of an earlier worker has it shared.
  while (ranks_lock_fd_ >= 0 && flock(ranks_lock_fd_, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return absl::FailedPreconditionError(
          fmt::format("trial processes of an earlier rung-worker of '{}' do not end: end its "
                      "rung-shim processes, or name another --home",
                      folder_.string()));
    }
    std::this_thread::sleep_for(kLockPollInterval);
  }
  if (ranks_lock_fd_ < 0 || flock(ranks_lock_fd_, LOCK_SH) != 0) {
    return absl::FailedPreconditionError(
        fmt::format("'{}': {}", path.string(), std::strerror(errno)));
  }
  return absl::OkStatus();
}

absl::Status WorkerHome::PrepareSockets() {
  sockets_ = folder_ / "sockets";
  if (sockets_.native().size() + kSocketNameBytesMax > kSocketPathBytesMax) {
    const char* runtime = Variable("XDG_RUNTIME_DIR");
    const std::string hash = ShortHash(folder_.native());
    const fs::path preferred = fs::path(runtime != nullptr ? runtime : "") / ("rung-" + hash);
    const bool short_enough =
        runtime != nullptr &&
        preferred.native().size() + kSocketNameBytesMax <= kSocketPathBytesMax;
    sockets_ =
        short_enough ? preferred : fs::path("/tmp") / fmt::format("rung-{}-{}", geteuid(), hash);
  }
  RUNG_RETURN_IF_ERROR(MakePrivateFolder(sockets_));
  RUNG_RETURN_IF_ERROR(CheckOwn(sockets_));
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(sockets_, error)) {
    if (entry.path().extension() == ".s") fs::remove(entry.path(), error);
  }
  return absl::OkStatus();
}

fs::path WorkerHome::LogFolder(AttemptId attempt) const {
  return folder_ / "logs" / ToString(attempt);
}

std::string WorkerHome::StdoutName(int32_t rank) { return fmt::format("rank{}.out", rank); }
std::string WorkerHome::StderrName(int32_t rank) { return fmt::format("rank{}.err", rank); }

fs::path WorkerHome::CheckpointFolder(AttemptId attempt, const std::string& root) const {
  const fs::path base = root.empty() ? folder_ / "checkpoints" : fs::path(root);
  return base / ToString(attempt.trial) / fmt::format("attempt{}", attempt.attempt);
}

fs::path WorkerHome::SocketPath(AttemptId attempt, int32_t rank) const {
  return sockets_ / fmt::format("{}-rank{}.s", ToString(attempt), rank);
}

absl::Status WorkerHome::WriteRecord(const WorkerRecord& record) const {
  const nlohmann::json document = {{"pid", record.pid},
                                   {"name", record.name},
                                   {"server", record.server},
                                   {"version", record.version}};
  const fs::path path = folder_ / "worker.json";
  const fs::path temporary = folder_ / "worker.json.tmp";
  std::ofstream stream(temporary, std::ios::trunc);
  stream << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  stream.close();
  std::error_code error;
  if (stream) fs::rename(temporary, path, error);
  if (!stream || error) {
    return absl::FailedPreconditionError(fmt::format("cannot write '{}'", path.string()));
  }
  return absl::OkStatus();
}

void WorkerHome::RemoveRecord() const {
  std::error_code ignored;
  fs::remove(folder_ / "worker.json", ignored);
}

}  // namespace rung::worker
