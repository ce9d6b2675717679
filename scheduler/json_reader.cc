#include "scheduler/json_reader.h"

#include <absl/status/statusor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/json_message.h"
#include "core/parameters.h"
#include "core/quantity.h"

namespace rung {
namespace {

std::vector<std::string> Strings(std::span<const std::string_view> words) {
  return {words.begin(), words.end()};
}

bool Contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void JsonProblems::Refuse(std::string_view path, std::string_view message) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      fmt::format("{}: {}", path.empty() ? "the document" : path, message));
}

void JsonProblems::RefuseForNow(std::string_view path, std::string_view what,
                                std::string_view instead) {
  if (!status_.ok()) return;
  status_ = absl::UnimplementedError(
      fmt::format("{}: {} comes with a later version{}", path, what, instead));
}

void JsonNode::Refuse(std::string_view must) const {
  problems_->Refuse(path_, fmt::format("must be {}, found {}", must, Shown(*json_)));
}

JsonNode JsonNode::Member(std::string_view key) const {
  return {*json_->find(std::string(key)), PathOfKey(path_, key), *problems_};
}

JsonNode JsonNode::Element(size_t index) const {
  return {(*json_)[index], fmt::format("{}[{}]", path_, index), *problems_};
}

size_t JsonNode::Array(size_t least, std::string_view of) const {
  if (json_->is_array() && json_->size() >= least) return json_->size();
  Refuse(least == 0 ? fmt::format("an array of {}", of)
                    : fmt::format("an array of at least {} {}", least, of));
  return 0;
}

std::string JsonNode::Text(size_t bytes_min, size_t bytes_max) const {
  if (json_->is_string()) {
    const auto& text = json_->get_ref<const std::string&>();
    if (text.size() >= bytes_min && text.size() <= bytes_max &&
        text.find('\0') == std::string::npos) {
      return text;
    }
  }
  Refuse(bytes_min == 0
             ? fmt::format("text of at most {} bytes without a NUL byte", bytes_max)
             : fmt::format("text of {} to {} bytes without a NUL byte", bytes_min, bytes_max));
  return {};
}

bool JsonNode::Boolean() const {
  if (json_->is_boolean()) return json_->get<bool>();
  Refuse("true or false");
  return false;
}

double JsonNode::Number() const {
  if (json_->is_number()) return json_->get<double>();
  Refuse("a number");
  return 0;
}

int64_t JsonNode::Integer(int64_t low, int64_t high) const {
  if (json_->is_number_integer()) {
    const bool fits = !json_->is_number_unsigned() ||
                      json_->get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
    const auto value = json_->get<int64_t>();
    if (fits && value >= low && value <= high) return value;
  }
  if (low == std::numeric_limits<int64_t>::min() && high == std::numeric_limits<int64_t>::max()) {
    Refuse("a 64-bit integer");
  } else {
    Refuse(fmt::format("an integer from {} to {}", low, high));
  }
  return low;
}

int32_t JsonNode::Integer32(int32_t low, int32_t high) const {
  return static_cast<int32_t>(Integer(low, high));
}

std::chrono::milliseconds JsonNode::Duration() const {
  const bool text = json_->is_string() && json_->get_ref<const std::string&>().size() <= 40;
  const absl::StatusOr<std::chrono::milliseconds> duration =
      ParseDuration(text ? json_->get_ref<const std::string&>() : "");
  if (duration.ok()) return *duration;
  Refuse(R"(a duration such as "500ms", "30s", "10m" or "4h", at most "10000d")");
  return {};
}

int64_t JsonNode::Size() const {
  const bool text = json_->is_string() && json_->get_ref<const std::string&>().size() <= 40;
  const absl::StatusOr<int64_t> size = ParseSize(text ? json_->get_ref<const std::string&>() : "");
  if (size.ok()) return *size;
  Refuse(R"(a size such as "512MiB" or "8GiB")");
  return 0;
}

size_t JsonNode::WordIndex(std::span<const std::string_view> words,
                           std::span<const std::string_view> later) const {
  std::string found;
  if (json_->is_string()) {
    found = json_->get<std::string>();
    const auto word = std::find(words.begin(), words.end(), found);
    if (word != words.end()) return static_cast<size_t>(word - words.begin());
    if (Contains(later, found)) {
      problems_->RefuseForNow(path_, JsonQuote(found));
      return 0;
    }
  }
  problems_->Refuse(path_, fmt::format("must be one of {}, found {}{}", fmt::join(words, ", "),
                                       Shown(*json_), DidYouMean(found, Strings(words))));
  return 0;
}

JsonObject::JsonObject(const JsonNode& node, std::initializer_list<std::string_view> keys,
                       std::initializer_list<std::string_view> later)
    : node_(node) {
  if (!node.json().is_object()) {
    node.Refuse("an object");
    return;
  }
  for (const auto& member : node.json().items()) {
    if (Contains({keys.begin(), keys.size()}, member.key())) continue;
    const std::string path = PathOfKey(node.path(), member.key());
    if (Contains({later.begin(), later.size()}, member.key())) {
      node.problems().RefuseForNow(path, JsonQuote(member.key()));
      return;
    }
    const std::string near = DidYouMean(member.key(), Strings({keys.begin(), keys.size()}));
    node.problems().Refuse(
        path, fmt::format("unknown key{} Allowed: {}", near.empty() ? "." : near,
                          keys.size() == 0 ? "none" : fmt::format("{}", fmt::join(keys, ", "))));
    return;
  }
}

std::optional<JsonNode> JsonObject::Find(std::string_view key) const {
  if (!node_.json().is_object() || !node_.json().contains(key)) return std::nullopt;
  return node_.Member(key);
}

std::optional<JsonNode> JsonObject::Require(std::string_view key, std::string_view must) const {
  std::optional<JsonNode> member = Find(key);
  if (!member && node_.json().is_object()) {
    node_.problems().Refuse(PathOfKey(node_.path(), key), fmt::format("missing, must be {}", must));
  }
  return member;
}

std::string Shown(const Json& value) { return ShownJson(CanonicalJson(value)); }

}  // namespace rung
