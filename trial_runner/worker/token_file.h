#pragma once

#include <absl/status/statusor.h>

#include <string>

/// The file with the secret that this worker shows a scheduler over TCP.
namespace rung::worker {

/// The secret of the first line `name:secret` of the token file; `#` begins a comment.
/// Errors: NOT_FOUND, FAILED_PRECONDITION without such a line.
absl::StatusOr<std::string> ReadToken(const std::string& file);

/// Read anew for every stream, so that a token that was changed at the scheduler needs no restart
/// of the workers, which would end their trials.
class TokenFile {
 public:
  /// No token, as over a Unix socket.
  TokenFile() = default;
  /// Errors: those of ReadToken.
  static absl::StatusOr<TokenFile> Open(const std::string& path);

  /// As the file has it now; as it was at Open while the file cannot be read. Empty: none. Any
  /// thread.
  std::string Secret() const;
  /// Empty: there is none.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string first_secret_;
};

}  // namespace rung::worker
