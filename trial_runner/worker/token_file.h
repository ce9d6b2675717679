#pragma once

#include <absl/status/statusor.h>

#include <string>

/// The file with the secret that this worker shows a scheduler over TCP.
namespace rung::worker {

/// Read anew for every stream, so that a token that was changed at the scheduler needs no restart
/// of the workers, which would end their trials.
class TokenFile {
 public:
  /// No token, as over a Unix socket.
  TokenFile() = default;
  /// The first token of the file. Errors: those of ReadSecret (proto/token.h).
  static absl::StatusOr<TokenFile> Open(const std::string& path);

  /// As the file has it now; as it was at Open while the file cannot be read or its first token is
  /// none. Empty: there is no token. Always legal as metadata. Any thread.
  std::string Secret() const;
  /// Empty: there is none.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string first_secret_;
};

}  // namespace rung::worker
