#include "proto/token.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "proto/utf8.h"

namespace rung {
namespace {

constexpr char kForm[] = "must be name:secret";

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }
bool IsVisibleAscii(char c) { return c > 0x20 && c < 0x7F; }

absl::StatusOr<Token> ParseToken(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == line.size()) {
    return absl::FailedPreconditionError(kForm);
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view secret = line.substr(colon + 1);
  if (FirstNonUtf8(name) || std::ranges::any_of(name, IsControl)) {
    return absl::FailedPreconditionError(
        fmt::format("{}, the name of printable UTF-8 text", kForm));
  }
  const auto bad = std::ranges::find_if_not(secret, IsVisibleAscii);
  if (bad != secret.end()) {
    return absl::FailedPreconditionError(fmt::format(
        "{}, the secret of visible ASCII characters without spaces, found byte 0x{:02x}", kForm,
        static_cast<unsigned char>(*bad)));
  }
  return Token{.name = std::string(name), .secret = std::string(secret)};
}

/// Takes tokens line by line off the text of a file.
class TokenLines {
 public:
  TokenLines(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  /// Nothing after the last one.
  absl::StatusOr<std::optional<Token>> Next() {
    while (!text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++number_;
      line = line.substr(0, line.find_last_not_of(" \t\r") + 1);  // npos + 1 is 0
      if (line.empty() || line.front() == '#') continue;
      absl::StatusOr<Token> token = ParseToken(line);
      if (token.ok()) return *std::move(token);
      return absl::FailedPreconditionError(
          fmt::format("{}:{}: {}", file_, number_, std::string(token.status().message())));
    }
    return std::nullopt;
  }

 private:
  std::string_view text_;
  std::string_view file_;
  int number_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Token>> ParseTokens(std::string_view text, std::string_view file) {
  std::vector<Token> tokens;
  TokenLines lines(text, file);
  while (true) {
    absl::StatusOr<std::optional<Token>> token = lines.Next();
    if (!token.ok()) return token.status();
    if (!*token) return tokens;
    tokens.push_back(**std::move(token));
  }
}

absl::StatusOr<std::string> ReadSecret(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return absl::NotFoundError(fmt::format("cannot read the token file '{}'", file));
  std::string text(kTokenFileBytesMax + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() > kTokenFileBytesMax) {
    return absl::FailedPreconditionError(
        fmt::format("the token file '{}' must have at most 1 MiB", file));
  }
  absl::StatusOr<std::optional<Token>> token = TokenLines(text, file).Next();
  if (!token.ok()) return token.status();
  if (*token) return std::move((*token)->secret);
  return absl::FailedPreconditionError(
      fmt::format("the token file '{}' holds no line of the form name:secret", file));
}

}  // namespace rung
