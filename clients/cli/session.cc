#include "clients/cli/session.h"

namespace rung::cli {

absl::StatusOr<Client*> Session::client() {
  if (client_ != nullptr) return client_.get();
  const auto home = Home::FromEnvironment();
  if (!home.ok()) return home.status();
  const auto address = ResolveAddress({.server = options_.server,
                                       .token_file = options_.token_file,
                                       .insecure_network = options_.insecure_network},
                                      *home);
  if (!address.ok()) return address.status();
  if (options_.log_level == "debug") {
    console_.err << "rung: the service is at " << address->target << "\n";
  }
  client_ = std::make_unique<Client>(*address);
  return client_.get();
}

}  // namespace rung::cli
