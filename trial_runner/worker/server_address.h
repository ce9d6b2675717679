#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

/// Where the scheduler is, as `--server` names it.
namespace rung::worker {

struct ServerAddress {
  std::string target;  ///< gRPC's form: "unix:/path" or "HOST:PORT"
  std::string host;    ///< without brackets; empty for a Unix socket
  std::string port;    ///< digits
  bool is_unix = false;
  bool is_loopback = false;  ///< a Unix socket, or as proto/loopback.h says
};

/// Accepts "unix:PATH", "/PATH" and "HOST:PORT" ("[::1]:7070" for IPv6).
/// Errors: INVALID_ARGUMENT that names what is allowed.
absl::StatusOr<ServerAddress> ParseServerAddress(std::string_view text);

/// The numeric address of this machine that faces the server: peers reach it there. Loopback when
/// the server is on this machine, or cannot be resolved now.
std::string LocalAddressTowards(const ServerAddress& server);

}  // namespace rung::worker
