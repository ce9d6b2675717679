#include "core/json_message.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/edit_distance.h"
#include "core/parameters.h"

namespace rung {
namespace {

/// The first whole UTF-8 characters of `text`, at most `bytes` long.
std::string_view FirstOf(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string Lower(std::string_view text) {
  std::string lower(text.substr(0, 64));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace

std::string PathOfKey(std::string_view path, std::string_view key) {
  constexpr size_t kBytesMax = 128;
  const bool plain = !key.empty() && key.size() <= kBytesMax &&
                     std::all_of(key.begin(), key.end(), [](unsigned char c) {
                       return c == '_' || c == '-' || c == '/' || (c >= '0' && c <= '9') ||
                              (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                     });
  if (!plain) return fmt::format("{}[{}]", path, JsonQuote(FirstOf(key, kBytesMax)));
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string ShownJson(std::string_view json) {
  const std::string_view shown = FirstOf(json, 60);
  return fmt::format("{}{}", shown, shown.size() < json.size() ? "…" : "");
}

std::string DidYouMean(std::string_view found, std::span<const std::string> words) {
  const std::string lower = Lower(found);
  const std::string* nearest = nullptr;
  size_t least = std::max<size_t>(2, lower.size() / 3) + 1;
  for (const std::string& word : words) {
    const size_t distance = EditDistance(lower, Lower(word));
    if (distance < least && distance < word.size()) {
      least = distance;
      nearest = &word;
    }
  }
  return nearest == nullptr ? "" : fmt::format(", did you mean {}?", JsonQuote(*nearest));
}

}  // namespace rung
