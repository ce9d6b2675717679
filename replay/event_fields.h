#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// One event of a trace as its text has it: a flat list of fields, before it means anything.
namespace rung {

struct EventField {
  enum class Type { kNull, kBoolean, kInteger, kFloat, kString, kObject, kArray };

  std::string_view key = {};    ///< outlives the field
  std::string_view inner = {};  ///< of a member of the object `key`; empty otherwise; likewise
  Type type = Type::kNull;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;      ///< of an integer too
  std::string text = {};  ///< of a string; of a float as it stands in the trace

  /// The value as a message shows it.
  std::string Shown() const;
};

/// The fields of `events[index]`. An object is a field of its own, before its members; what is
/// nested deeper is left out.
struct EventFields {
  size_t index = 0;
  std::vector<EventField> fields;

  const EventField* Find(std::string_view key, std::string_view inner = "") const;

  // What is wrong, by the path `events[index].key.inner`.
  absl::Status Refuse(const EventField& field, std::string_view message) const;
  absl::Status Must(const EventField& field, std::string_view must) const;
  absl::Status Missing(std::string_view key, std::string_view inner, std::string_view must) const;

  /// That the members of `key` (of the event itself: "") are among `names`, none of them twice.
  absl::Status CheckNames(std::string_view key,
                          std::initializer_list<std::string_view> names) const;

  // What a field must hold.
  absl::Status ReadInteger(const EventField& field, int64_t low, int64_t high, int64_t& into) const;
  /// A number, or "nan", "inf", "-inf".
  absl::Status ReadValue(const EventField& field, double& into) const;
};

/// The highest step that a trace may name.
inline constexpr int64_t kTraceStepsMax = 1'000'000'000'000;

}  // namespace rung
