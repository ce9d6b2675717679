#include "scheduler/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

namespace rung {
namespace {

bool IsLoopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof(v4));
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof(v6));
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

}  // namespace

absl::StatusOr<TcpEndpoint> ParseTcpEndpoint(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return absl::InvalidArgumentError(fmt::format(
        "--listen: must be unix or HOST:PORT, such as 127.0.0.1:7070, found \"{}\"{}", text, why));
  };
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0) return refuse("");
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    return refuse(": an IPv6 address is written [ADDRESS]:PORT");
  }
  uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (error != std::errc() || end != port_text.data() + port_text.size()) {
    return refuse(": the port must be a number from 0 to 65535");
  }

  TcpEndpoint endpoint{.address = std::string(text), .host = std::string(host), .loopback = true};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &found);
  if (failed != 0) return refuse(fmt::format(": {}", gai_strerror(failed)));
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    endpoint.loopback = endpoint.loopback && IsLoopback(*info->ai_addr);
  }
  freeaddrinfo(found);
  return endpoint;
}

absl::Status CheckSocketIsFree(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof(address.sun_path)) {
    return absl::FailedPreconditionError(fmt::format("the socket path {} is too long", text));
  }
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    return absl::ResourceExhaustedError(fmt::format("socket: {}", std::strerror(errno)));
  }
  const bool answered =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN;  // its queue is full
  close(fd);
  if (!answered) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("another scheduler answers on {}: end it first (rung local down), or set "
                  "RUNG_HOME to another folder",
                  text));
}

}  // namespace rung
