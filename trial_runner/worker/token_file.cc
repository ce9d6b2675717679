#include "trial_runner/worker/token_file.h"

#include "proto/token.h"

namespace rung::worker {

absl::StatusOr<TokenFile> TokenFile::Open(const std::string& path) {
  absl::StatusOr<std::string> secret = ReadSecret(path);
  if (!secret.ok()) return secret.status();
  TokenFile file;
  file.path_ = path;
  file.first_secret_ = *std::move(secret);
  return file;
}

std::string TokenFile::Secret() const {
  if (path_.empty()) return "";
  return ReadSecret(path_).value_or(first_secret_);
}

}  // namespace rung::worker
