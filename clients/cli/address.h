#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "clients/cli/home.h"

/// Which service this command talks to.
namespace rung::cli {

struct AddressOptions {
  std::string server;             ///< --server, else RUNG_SERVER; empty: the local service
  std::string token_file;         ///< --token-file; empty: `token` in the home folder, if it exists
  bool insecure_network = false;  ///< beyond this machine, unencrypted
};

struct Address {
  std::string target;  ///< gRPC's form: "unix:/path" or "HOST:PORT"
  std::string token;   ///< of the first line of the token file; empty over a Unix socket
  bool local = false;  ///< the service of `rung local up`
};

/// Accepts "unix:/path", "/path" and "HOST:PORT".
/// Errors: INVALID_ARGUMENT for another form, and for a host beyond loopback unless
/// `insecure_network`, since the token would go there unencrypted; NOT_FOUND when the token file
/// that was named cannot be read, FAILED_PRECONDITION when it holds no line `name:secret`,
/// UNAVAILABLE when the home folder's path is too long for a socket and no scheduler says where its
/// own is.
absl::StatusOr<Address> ResolveAddress(const AddressOptions& options, const Home& home);

}  // namespace rung::cli
