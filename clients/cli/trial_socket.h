#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <string>

namespace rung::cli {

/// Sends `line` to the Unix socket at `path` and returns the line that answers it, both without
/// their newline. This is the contract of trials (RUNG_SOCKET), not gRPC.
/// Errors: UNAVAILABLE when nobody listens or the peer closes, DEADLINE_EXCEEDED,
/// INVALID_ARGUMENT for a path that no socket can have, RESOURCE_EXHAUSTED for an answer of more
/// than 64 KiB.
absl::StatusOr<std::string> AskTrialSocket(const std::string& path, const std::string& line,
                                           std::chrono::milliseconds timeout);

}  // namespace rung::cli
