#include "proto/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rung {
namespace {

/// Table 3-7 of the Unicode Standard: the range of the second byte depends on the first.
struct Sequence {
  unsigned char first_min, first_max, second_min, second_max;
  size_t size;
};
constexpr std::array<Sequence, 8> kSequences{{{0xC2, 0xDF, 0x80, 0xBF, 2},
                                              {0xE0, 0xE0, 0xA0, 0xBF, 3},
                                              {0xE1, 0xEC, 0x80, 0xBF, 3},
                                              {0xED, 0xED, 0x80, 0x9F, 3},
                                              {0xEE, 0xEF, 0x80, 0xBF, 3},
                                              {0xF0, 0xF0, 0x90, 0xBF, 4},
                                              {0xF1, 0xF3, 0x80, 0xBF, 4},
                                              {0xF4, 0xF4, 0x80, 0x8F, 4}}};

/// Bytes of the character that `text` begins with; 0 if it is none.
size_t CharacterSize(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  for (const Sequence& sequence : kSequences) {
    if (byte(0) < sequence.first_min || byte(0) > sequence.first_max) continue;
    if (text.size() < sequence.size) return 0;
    if (byte(1) < sequence.second_min || byte(1) > sequence.second_max) return 0;
    for (size_t i = 2; i < sequence.size; ++i) {
      if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    return sequence.size;
  }
  return 0;
}

}  // namespace

std::optional<size_t> FirstNonUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t size = CharacterSize(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return std::nullopt;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    valid += size == 0 ? "\xEF\xBF\xBD" : text.substr(0, size);
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return valid;
}

absl::Status CheckPathIsUtf8(std::string_view path) {
  const std::optional<size_t> bad = FirstNonUtf8(path);
  if (!bad) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("the path '{}' is not UTF-8: byte 0x{:02x} after '{}'; choose a path that is",
                  ValidUtf8(path), static_cast<unsigned char>(path[*bad]), path.substr(0, *bad)));
}

}  // namespace rung
