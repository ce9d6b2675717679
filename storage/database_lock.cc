#include "storage/database_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

namespace rung {
namespace {

absl::Status SystemError(std::string_view what, const std::filesystem::path& path) {
  const int error = errno;
  return absl::ErrnoToStatus(error, fmt::format("{} {}", what, path.native()));
}

/// The process id in the lock file; empty while its holder has not written it yet.
std::string HolderOf(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  std::string holder(text.data(), size > 0 ? static_cast<size_t>(size) : 0);
  return holder.substr(0, holder.find('\n'));
}

}  // namespace

absl::StatusOr<DatabaseLock> DatabaseLock::Acquire(const std::filesystem::path& database) {
  const std::filesystem::path path = database.native() + ".lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return SystemError("cannot open lock file", path);
  DatabaseLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemError("cannot lock", path);
    const std::string holder = HolderOf(fd);
    return absl::FailedPreconditionError(
        fmt::format("database {} is in use by another scheduler (process {}, which holds {}): stop "
                    "it, or name another database",
                    database.native(), holder.empty() ? "unknown" : holder, path.native()));
  }
  const std::string holder = fmt::format("{}\n", getpid());
  if (ftruncate(fd, 0) != 0 ||
      pwrite(fd, holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size())) {
    return SystemError("cannot write lock file", path);
  }
  return lock;
}

DatabaseLock::DatabaseLock(DatabaseLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DatabaseLock& DatabaseLock::operator=(DatabaseLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

DatabaseLock::~DatabaseLock() {
  if (fd_ >= 0) close(fd_);
}

std::optional<std::string_view> NetworkFileSystemName(int64_t type) {
  // Not here: 9p and FUSE, which containers use for local disks too. linux/magic.h lacks some.
  switch (static_cast<uint32_t>(type)) {
    case NFS_SUPER_MAGIC:
      return "NFS";
    case SMB_SUPER_MAGIC:
    case 0xFE534D42:  // SMB2
    case 0xFF534D42:  // CIFS
      return "SMB";
    case AFS_SUPER_MAGIC:
    case 0x6B414653:  // the kernel's own AFS client
      return "AFS";
    case CODA_SUPER_MAGIC:
      return "Coda";
    case 0x00C36400:
      return "Ceph";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    case 0x19830326:
      return "BeeGFS";
    case OCFS2_SUPER_MAGIC:
      return "OCFS2";
    case 0x01161970:
      return "GFS2";
    default:
      return std::nullopt;
  }
}

absl::Status CheckFileSystem(const std::filesystem::path& folder) {
  struct statfs info {};
  if (statfs(folder.c_str(), &info) != 0) {
    return SystemError("cannot use folder", folder);
  }
  const auto name = NetworkFileSystemName(info.f_type);
  if (!name.has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("folder {} is on a network file system ({}), where SQLite loses data: put the "
                  "database on a local disk",
                  folder.native(), *name));
}

}  // namespace rung
