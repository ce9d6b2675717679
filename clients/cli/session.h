#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "clients/cli/client.h"
#include "clients/cli/console.h"
#include "clients/cli/home.h"

/// What a verb works with.
namespace rung::cli {

/// Options that stand before or after any verb.
struct GlobalOptions {
  std::string server;             ///< --server, else RUNG_SERVER; empty: the local service
  std::string token_file;         ///< --token-file
  bool insecure_network = false;  ///< --insecure-network, else RUNG_INSECURE_NETWORK
  std::string log_level;  ///< of this command and of daemons that it starts; empty: their default
};

/// The console, the options, and the connection, which is made when it is first asked for.
class Session {
 public:
  Session(Console& console, GlobalOptions options)
      : console_(console), options_(std::move(options)) {}

  Console& console() { return console_; }
  const GlobalOptions& options() const { return options_; }

  /// Errors: those of ResolveAddress. Nothing is sent yet.
  absl::StatusOr<Client*> client();
  /// Forgets the connection, so that the next client() looks for the service anew.
  void Disconnect() { client_.reset(); }

 private:
  Console& console_;
  GlobalOptions options_;
  std::unique_ptr<Client> client_;
};

}  // namespace rung::cli
