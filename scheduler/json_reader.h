#pragma once

#include <absl/status/status.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/word_table.h"
#include "scheduler/json_document.h"

/// Typed reads from a parsed document whose every refusal says where, what was found, and what is
/// allowed: `space.lr.loguniform[0]: must be > 0, found 0`.
///
/// A read that fails records its problem and returns a harmless value, so that a reader of a
/// section needs no branch a field; the first problem is the answer.
namespace rung {

class JsonProblems {
 public:
  /// INVALID_ARGUMENT "path: message". Later problems are dropped.
  void Refuse(std::string_view path, std::string_view message);
  /// UNIMPLEMENTED "path: what comes with a later version" and what to do instead, if anything.
  void RefuseForNow(std::string_view path, std::string_view what, std::string_view instead = "");

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
};

/// A value and the path that leads to it. Both the document and the problems outlive it.
class JsonNode {
 public:
  JsonNode(const Json& json, std::string path, JsonProblems& problems)
      : json_(&json), path_(std::move(path)), problems_(&problems) {}

  const Json& json() const { return *json_; }
  const std::string& path() const { return path_; }
  JsonProblems& problems() const { return *problems_; }

  /// Records "must be `must`, found …".
  void Refuse(std::string_view must) const;

  JsonNode Member(std::string_view key) const;  ///< the key exists
  JsonNode Element(size_t index) const;         ///< the index exists
  /// The number of elements; 0 and a problem when it is no array of at least `least`, `of` what.
  size_t Array(size_t least, std::string_view of) const;

  std::string Text(size_t bytes_min, size_t bytes_max) const;  ///< without NUL bytes
  bool Boolean() const;
  double Number() const;
  int64_t Integer(int64_t low, int64_t high) const;
  int32_t Integer32(int32_t low, int32_t high) const;
  std::chrono::milliseconds Duration() const;
  int64_t Size() const;
  /// The meaning of the word found, or of the table's first with a problem. Words of `later` come
  /// with a later version.
  template <typename Enum, size_t N>
  Enum Word(const WordTable<Enum, N>& table, std::span<const std::string_view> later = {}) const {
    std::array<std::string_view, N> words;
    for (size_t i = 0; i < N; ++i) words[i] = table[i].second;
    return table[WordIndex(words, later)].first;
  }

 private:
  size_t WordIndex(std::span<const std::string_view> words,
                   std::span<const std::string_view> later) const;

  const Json* json_;
  std::string path_;
  JsonProblems* problems_;
};

/// An object with a closed set of keys. The constructor records a value that is no object, a key
/// of `later` (comes with a later version) and a key in neither list.
class JsonObject {
 public:
  JsonObject(const JsonNode& node, std::initializer_list<std::string_view> keys,
             std::initializer_list<std::string_view> later = {});

  /// Nothing when the key is absent or the value is no object.
  std::optional<JsonNode> Find(std::string_view key) const;
  /// As Find, but records "path.key: missing, must be `must`".
  std::optional<JsonNode> Require(std::string_view key, std::string_view must) const;

 private:
  JsonNode node_;
};

/// `value` as a message shows it (core/json_message.h).
std::string Shown(const Json& value);

}  // namespace rung
