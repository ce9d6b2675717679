#include "trial_runner/worker/token_file.h"

#include <fmt/format.h>

#include <fstream>

namespace rung::worker {

absl::StatusOr<std::string> ReadToken(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) return absl::NotFoundError(fmt::format("cannot read the token file '{}'", file));
  for (std::string line; std::getline(stream, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    const size_t colon = line.find(':');
    if (colon != std::string::npos && colon > 0 && colon + 1 < line.size()) {
      return line.substr(colon + 1);
    }
  }
  return absl::FailedPreconditionError(
      fmt::format("the token file '{}' holds no line of the form name:secret", file));
}

absl::StatusOr<TokenFile> TokenFile::Open(const std::string& path) {
  absl::StatusOr<std::string> secret = ReadToken(path);
  if (!secret.ok()) return secret.status();
  TokenFile file;
  file.path_ = path;
  file.first_secret_ = *std::move(secret);
  return file;
}

std::string TokenFile::Secret() const {
  if (path_.empty()) return "";
  return ReadToken(path_).value_or(first_secret_);
}

}  // namespace rung::worker
