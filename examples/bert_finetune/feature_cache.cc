#include "examples/bert_finetune/feature_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace bert {
namespace {

constexpr auto kLockWait = std::chrono::minutes(10);
constexpr auto kLockPoll = std::chrono::milliseconds(50);

struct Header {
  char magic[8] = {'r', 'u', 'n', 'g', 'f', 'e', 'a', '1'};
  uint64_t key = 0;
  uint64_t tokens = 0;
  uint64_t hidden = 0;
  uint64_t reserved[4] = {};  // the values begin at a cache line
};
static_assert(sizeof(Header) == 64);

size_t ValueCount(const FeatureCache::Shape& shape) { return shape.tokens * shape.hidden; }
size_t FileBytes(const FeatureCache::Shape& shape) {
  return sizeof(Header) + ValueCount(shape) * sizeof(uint16_t);
}

std::string Errno() { return std::strerror(errno); }

/// A file descriptor that is closed, and with it unlocked and unmapped, at the end of its scope.
class File {
 public:
  File(const std::filesystem::path& path, int flags)
      : fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

absl::Status Lock(const File& file, const std::filesystem::path& path,
                  const std::function<bool()>& cancelled) {
  const auto deadline = std::chrono::steady_clock::now() + kLockWait;
  while (flock(file.fd(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return absl::UnavailableError(fmt::format("cannot lock {}: {}", path.string(), Errno()));
    }
    if (cancelled()) return absl::CancelledError("stopped while another process built features");
    if (std::chrono::steady_clock::now() > deadline) {
      return absl::DeadlineExceededError(fmt::format("another process has held {} for {} minutes",
                                                     path.string(), kLockWait.count()));
    }
    std::this_thread::sleep_for(kLockPoll);
  }
  return absl::OkStatus();
}

/// Writes header and values to `path` and syncs them.
absl::Status Write(const std::filesystem::path& path, const FeatureCache::Shape& shape,
                   const FeatureCache::Fill& fill) {
  const File file(path, O_RDWR | O_CREAT | O_TRUNC);
  if (file.fd() < 0) {
    return absl::PermissionDeniedError(fmt::format("cannot write {}: {}", path.string(), Errno()));
  }
  // Reserved now: on a full disk a write through the mapping would be a SIGBUS.
  const size_t bytes = FileBytes(shape);
  if (const int error = posix_fallocate(file.fd(), 0, static_cast<off_t>(bytes)); error != 0) {
    return absl::ResourceExhaustedError(fmt::format("cannot reserve {} MB for {}: {}", bytes >> 20U,
                                                    path.string(), std::strerror(error)));
  }
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (address == MAP_FAILED) {
    return absl::UnavailableError(fmt::format("cannot map {}: {}", path.string(), Errno()));
  }
  Header header;
  header.key = shape.key;
  header.tokens = shape.tokens;
  header.hidden = shape.hidden;
  std::memcpy(address, &header, sizeof header);
  auto* values = reinterpret_cast<uint16_t*>(static_cast<std::byte*>(address) + sizeof header);
  absl::Status filled = fill(std::span(values, ValueCount(shape)));
  munmap(address, bytes);
  if (!filled.ok()) return filled;
  if (fsync(file.fd()) != 0) {
    return absl::UnavailableError(fmt::format("cannot sync {}: {}", path.string(), Errno()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FeatureCache> FeatureCache::OpenOrBuild(const std::filesystem::path& folder,
                                                       const Shape& shape, const Fill& fill,
                                                       const std::function<bool()>& cancelled) {
  const std::filesystem::path path = folder / fmt::format("features-{:016x}.bin", shape.key);
  absl::StatusOr<FeatureCache> cache = Open(path, shape);
  if (cache.ok()) return cache;

  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path lock_path = folder / "lock";
  const File lock(lock_path, O_RDWR | O_CREAT);
  if (lock.fd() < 0) {
    return absl::PermissionDeniedError(
        fmt::format("cannot make {}: {}", lock_path.string(), Errno()));
  }
  if (absl::Status locked = Lock(lock, lock_path, cancelled); !locked.ok()) return locked;
  cache = Open(path, shape);  // whoever held the lock before may have built it
  if (cache.ok()) return cache;

  // One name for all builders: the lock lets only one write it, and a killed one leaves no litter.
  const std::filesystem::path temporary = folder / "features.tmp";
  if (absl::Status written = Write(temporary, shape, fill); !written.ok()) {
    std::filesystem::remove(temporary, error);
    return written;
  }
  std::filesystem::rename(temporary, path, error);
  if (error) {
    return absl::UnavailableError(fmt::format("cannot rename {} to {}: {}", temporary.string(),
                                              path.string(), error.message()));
  }
  return Open(path, shape);
}

absl::StatusOr<FeatureCache> FeatureCache::Open(const std::filesystem::path& path,
                                                const Shape& shape) {
  absl::StatusOr<MemoryMap> map = MemoryMap::Open(path.string());
  if (!map.ok()) return map.status();
  Header header;
  const Header expected;
  if (map->bytes().size() != FileBytes(shape)) {
    return absl::InvalidArgumentError(fmt::format("{} has {} bytes, expected {}", path.string(),
                                                  map->bytes().size(), FileBytes(shape)));
  }
  std::memcpy(&header, map->bytes().data(), sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.key != shape.key || header.tokens != shape.tokens || header.hidden != shape.hidden) {
    return absl::InvalidArgumentError(fmt::format("{} holds other features", path.string()));
  }
  return FeatureCache(path, *std::move(map), shape.hidden);
}

std::span<const uint16_t> FeatureCache::Values(size_t begin, size_t length) const {
  const auto* values = reinterpret_cast<const uint16_t*>(map_.bytes().data() + sizeof(Header));
  return std::span(values + begin * hidden_, length * hidden_);
}

}  // namespace bert
