#include "storage/page_token.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>

namespace rung {
namespace {

constexpr size_t kChecksumSize = 16;  // hexadecimal digits

/// FNV-1a, 64 bits: guards against mistakes, not against forgery (a key reveals nothing).
std::string Checksum(std::string_view list, std::string_view body) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      hash ^= static_cast<unsigned char>(c);
      hash *= 0x100000001b3;
    }
  };
  add(list);
  add(std::string_view("\0", 1));
  add(body);
  return fmt::format("{:016x}", hash);
}

/// Takes `length:bytes` from the front of `body`.
std::optional<std::string> TakePart(std::string_view& body) {
  size_t length = 0;
  const auto [stop, error] = std::from_chars(body.data(), body.data() + body.size(), length);
  if (error != std::errc()) return std::nullopt;
  body.remove_prefix(static_cast<size_t>(stop - body.data()));
  if (!body.starts_with(':') || body.size() - 1 < length) return std::nullopt;
  std::string part(body.substr(1, length));
  body.remove_prefix(1 + length);
  return part;
}

}  // namespace

std::string EncodePageToken(std::string_view list, const std::vector<std::string>& key) {
  std::string body;
  for (const std::string& part : key) body += fmt::format("{}:{}", part.size(), part);
  return absl::WebSafeBase64Escape(Checksum(list, body) + body);
}

absl::StatusOr<std::vector<std::string>> DecodePageToken(std::string_view list,
                                                         std::string_view token, size_t size) {
  const absl::Status refused = absl::InvalidArgumentError(fmt::format(
      "page_token '{}' was not given by this list with these filters: begin with an empty one",
      token.substr(0, 64)));
  std::string text;
  // Debian's absl has a string_view of its own.
  if (!absl::WebSafeBase64Unescape(absl::string_view(token.data(), token.size()), &text) ||
      text.size() < kChecksumSize)
    return refused;
  std::string_view body = std::string_view(text).substr(kChecksumSize);
  if (Checksum(list, body) != text.substr(0, kChecksumSize)) return refused;
  std::vector<std::string> key;
  while (!body.empty()) {
    auto part = TakePart(body);
    if (!part.has_value()) return refused;
    key.push_back(*std::move(part));
  }
  if (key.size() != size) return refused;
  return key;
}

}  // namespace rung
