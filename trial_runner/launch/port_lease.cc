#include "trial_runner/launch/port_lease.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace rung {
namespace {

/// A socket bound to `port` on every address of both families where IPv6 is there, or −1. Without
/// SO_REUSEADDR, so a port with connections in TIME_WAIT is passed over as well.
int BindEverywhere(uint16_t port) {
  if (const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0); fd >= 0) {
    const int off = 0;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    const bool taken = errno == EADDRINUSE || errno == EACCES;
    close(fd);
    if (taken) return -1;
  }
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

}  // namespace

PortLease::PortLease(PortLease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      port_(other.port_),
      fd_(std::exchange(other.fd_, -1)) {}

PortLease& PortLease::operator=(PortLease&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(port_, other.port_);
  std::swap(fd_, other.fd_);
  return *this;
}

PortLease::~PortLease() {
  ReleaseBind();
  if (pool_ != nullptr) pool_->leased_.erase(port_);
}

void PortLease::ReleaseBind() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

absl::StatusOr<PortLease> PortPool::Lease() {
  for (int tried = 0; tried < kCount; ++tried) {
    const uint16_t port = static_cast<uint16_t>(kFirst + next_);
    next_ = static_cast<uint16_t>((next_ + 1) % kCount);
    if (leased_.contains(port)) continue;
    if (const int fd = BindEverywhere(port); fd >= 0) {
      leased_.insert(port);
      return PortLease(this, port, fd);
    }
  }
  return absl::ResourceExhaustedError(
      fmt::format("no rendezvous port of {}-{} can be bound here", kFirst, kFirst + kCount - 1));
}

}  // namespace rung
