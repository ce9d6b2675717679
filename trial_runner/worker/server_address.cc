#include "trial_runner/worker/server_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "proto/loopback.h"

namespace rung::worker {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

bool IsPort(std::string_view text) {
  const bool digits = !text.empty() && text.size() <= 5 &&
                      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return digits && std::stol(std::string(text)) >= 1 && std::stol(std::string(text)) <= 65535;
}

}  // namespace

absl::StatusOr<ServerAddress> ParseServerAddress(std::string_view text) {
  ServerAddress address;
  const std::string_view path = text.starts_with("unix:") ? text.substr(5) : text;
  if (text.starts_with("unix:") ? !path.empty() : text.starts_with('/')) {
    address.target = "unix:" + std::string(path);
    address.is_unix = address.is_loopback = true;
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && colon > 0 && IsPort(text.substr(colon + 1))) {
    std::string_view host = text.substr(0, colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (bracketed || host.find_first_of(":/[]") == std::string_view::npos) {
      address.target = text;
      address.host = host;
      address.port = text.substr(colon + 1);
      address.is_loopback = IsLoopbackHost(text.substr(0, colon));
      return address;
    }
  }
  return absl::InvalidArgumentError(
      fmt::format("--server: must be HOST:PORT, unix:PATH or /PATH, found '{}'", text));
}

std::string LocalAddressTowards(const ServerAddress& server) {
  if (server.is_loopback) return kLoopback;
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found) != 0) return kLoopback;
  std::string local = kLoopback;
  // Connecting a datagram socket sends nothing; it only asks for the route.
  const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
      getnameinfo(reinterpret_cast<const sockaddr*>(&own), size, text.data(), text.size(), nullptr,
                  0, NI_NUMERICHOST) == 0) {
    local = text.data();
  }
  if (fd >= 0) close(fd);
  freeaddrinfo(found);
  return local;
}

}  // namespace rung::worker
