#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <filesystem>
#include <string>
#include <string_view>

/// Where a scheduler listens.
namespace rung {

struct TcpEndpoint {
  std::string address;    ///< as gRPC takes it: "127.0.0.1:7070", "[::1]:7070"; port 0: any free
  std::string host;       ///< without brackets
  bool loopback = false;  ///< only this machine can reach it
};

/// `text` is HOST:PORT, HOST a name or a numeric address ([…] around IPv6).
/// Errors: INVALID_ARGUMENT for another form, a port out of range or a host that does not resolve.
absl::StatusOr<TcpEndpoint> ParseTcpEndpoint(std::string_view text);

/// Errors: FAILED_PRECONDITION if somebody answers on the Unix socket: gRPC would take the path
/// from them silently. A path that nobody listens on, left by a killed process, is fine.
absl::Status CheckSocketIsFree(const std::filesystem::path& path);

}  // namespace rung
