#include "clients/cli/address.h"

#include <fmt/format.h>

#include <algorithm>

#include "proto/loopback.h"
#include "proto/token.h"

namespace rung::cli {
namespace {

bool IsUnix(std::string_view target) { return target.starts_with("unix:"); }

absl::StatusOr<std::string> Target(const std::string& server) {
  if (IsUnix(server)) return server;
  if (server.starts_with('/')) return fmt::format("unix:{}", server);
  const size_t colon = server.rfind(':');
  const bool port = colon != std::string::npos && colon > 0 && colon + 1 < server.size() &&
                    std::all_of(server.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                                server.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (port && server.find('/') == std::string::npos) return server;
  return absl::InvalidArgumentError(
      fmt::format("server address '{}': allowed are HOST:PORT, unix:/path and /path", server));
}

// `target` is "HOST:PORT".
bool IsLoopback(std::string_view target) {
  return IsLoopbackHost(target.substr(0, target.rfind(':')));
}

constexpr size_t kSocketPathBytesMax = 100;

absl::StatusOr<std::string> LocalTarget(const Home& home) {
  const auto record = home.SchedulerRecord();
  if (record.has_value()) {
    const auto socket = std::find_if(record->addresses.begin(), record->addresses.end(),
                                     [](const auto& address) { return IsUnix(address); });
    if (socket != record->addresses.end()) return *socket;
    if (!record->addresses.empty()) return record->addresses.front();
  }
  if (home.socket().string().size() > kSocketPathBytesMax) {
    // The scheduler moves the socket of such a folder, and its record alone says where to.
    return absl::UnavailableError(
        fmt::format("no rung service runs in {}: start one on this machine with `rung local up`",
                    home.folder().string()));
  }
  return fmt::format("unix:{}", home.socket().string());
}

}  // namespace

absl::StatusOr<Address> ResolveAddress(const AddressOptions& options, const Home& home) {
  Address address;
  address.local = options.server.empty();
  const auto target = address.local ? LocalTarget(home) : Target(options.server);
  if (!target.ok()) return target.status();
  address.target = *target;
  if (IsUnix(address.target)) return address;
  if (!IsLoopback(address.target) && !options.insecure_network) {
    return absl::InvalidArgumentError(fmt::format(
        "server address '{}': TLS comes with a later version; beyond this machine only isolated "
        "networks are possible, with --insecure-network",
        address.target));
  }
  const bool named = !options.token_file.empty();
  const std::string file = named ? options.token_file : home.token_file().string();
  if (!named && !std::filesystem::exists(file)) return address;  // the service will ask for one
  auto token = ReadSecret(file);
  if (!token.ok()) return token.status();
  address.token = *token;
  return address;
}

}  // namespace rung::cli
