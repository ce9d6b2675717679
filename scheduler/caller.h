#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/server_context.h>

#include <string>
#include <string_view>
#include <vector>

#include "proto/token.h"

/// Who calls, and with which version. Insecure credentials carry no identity in gRPC: the transport
/// and a token do.
namespace rung {

class CallerCheck {
 public:
  /// `login` names callers over the Unix socket, which its folder's mode keeps to one user.
  CallerCheck(std::string login, std::vector<Token> tokens)
      : login_(std::move(login)), tokens_(std::move(tokens)) {}

  /// The name of a caller that may call; tells it our version. Once a call, before anything is
  /// sent. Errors: UNAUTHENTICATED over TCP without a known token, FAILED_PRECONDITION for a client
  /// whose version does not go with ours (one that says none is taken).
  absl::StatusOr<std::string> NameOf(grpc::CallbackServerContext& context) const;

  /// `peer` as gRPC names it ("unix:…", "ipv4:…"), `authorization` the metadata of that name.
  absl::StatusOr<std::string> NameOf(std::string_view peer, std::string_view authorization) const;

 private:
  std::string login_;
  std::vector<Token> tokens_;
};

}  // namespace rung
