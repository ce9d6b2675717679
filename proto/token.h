#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Tokens: what callers over TCP show, as `authorization: Bearer SECRET`, and the file that holds
/// them. Its lines are `name:secret`; `#` begins a comment, empty lines and white space at the end
/// of a line do not count. A secret is made of visible ASCII characters (0x21 to 0x7E): anything
/// else is no legal value of HTTP/2 metadata, and gRPC ends a process that sends it
/// (grpc/grpc#34798). A name is printable UTF-8, since it travels and is stored as an owner.
namespace rung {

constexpr size_t kTokenFileBytesMax = 1 << 20;

/// One line of the token file.
struct Token {
  std::string name;
  std::string secret;
};

/// All tokens of `text`, the content of `file`.
/// Errors: FAILED_PRECONDITION "FILE:LINE: …" with what is allowed and what was found, never with
/// the secret.
absl::StatusOr<std::vector<Token>> ParseTokens(std::string_view text, std::string_view file);

/// The secret of the first token of `file`; what stands behind it is not looked at.
/// Errors: NOT_FOUND when it cannot be read, FAILED_PRECONDITION as ParseTokens, without a token,
/// and beyond kTokenFileBytesMax.
absl::StatusOr<std::string> ReadSecret(const std::string& file);

}  // namespace rung
