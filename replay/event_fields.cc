#include "replay/event_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "core/json_message.h"
#include "core/parameters.h"
#include "scheduler/json_reader.h"

namespace rung {

std::string EventField::Shown() const {
  switch (type) {
    case Type::kNull:
      return "null";
    case Type::kBoolean:
      return boolean ? "true" : "false";
    case Type::kInteger:
      return fmt::format("{}", integer);
    case Type::kFloat:
      return text.empty() ? rung::Shown(Json(number)) : text;
    case Type::kString:
      return rung::Shown(Json(text));
    case Type::kObject:
      return "an object";
    case Type::kArray:
      return "an array";
  }
  return {};
}

const EventField* EventFields::Find(std::string_view key, std::string_view inner) const {
  for (const EventField& field : fields) {
    if (field.key == key && field.inner == inner) return &field;
  }
  return nullptr;
}

absl::Status EventFields::Refuse(const EventField& field, std::string_view message) const {
  std::string path = PathOfKey(fmt::format("events[{}]", index), field.key);
  if (!field.inner.empty()) path = PathOfKey(path, field.inner);
  return absl::InvalidArgumentError(fmt::format("{}: {}", path, message));
}

absl::Status EventFields::Must(const EventField& field, std::string_view must) const {
  return Refuse(field, fmt::format("must be {}, found {}", must, field.Shown()));
}

absl::Status EventFields::Missing(std::string_view key, std::string_view inner,
                                  std::string_view must) const {
  return absl::InvalidArgumentError(fmt::format("events[{}].{}{}{}: missing, must be {}", index,
                                                key, inner.empty() ? "" : ".", inner, must));
}

absl::Status EventFields::CheckNames(std::string_view key,
                                     std::initializer_list<std::string_view> names) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    const EventField& field = fields[i];
    const bool here = key.empty() ? field.inner.empty() : field.key == key && !field.inner.empty();
    if (!here) continue;
    const std::string_view name = key.empty() ? field.key : field.inner;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string near =
          DidYouMean(name, std::vector<std::string>(names.begin(), names.end()));
      return Refuse(field, fmt::format("unknown key{} Allowed: {}", near.empty() ? "." : near,
                                       fmt::join(names, ", ")));
    }
    for (size_t j = 0; j < i; ++j) {
      if (fields[j].key == field.key && fields[j].inner == field.inner) {
        return Refuse(field, "key given twice in one object, allowed once");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status EventFields::ReadInteger(const EventField& field, int64_t low, int64_t high,
                                      int64_t& into) const {
  into = field.integer;
  const bool fits =
      field.type == EventField::Type::kInteger && field.integer >= low && field.integer <= high;
  return fits ? absl::OkStatus() : Must(field, fmt::format("an integer from {} to {}", low, high));
}

absl::Status EventFields::ReadValue(const EventField& field, double& into) const {
  into = field.number;
  if (field.type == EventField::Type::kInteger || field.type == EventField::Type::kFloat) {
    return absl::OkStatus();
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (field.type == EventField::Type::kString) {
    if (field.text == "nan") into = std::numeric_limits<double>::quiet_NaN();
    if (field.text == "inf") into = kInfinity;
    if (field.text == "-inf") into = -kInfinity;
    if (field.text == "nan" || field.text == "inf" || field.text == "-inf") {
      return absl::OkStatus();
    }
  }
  return Must(field, R"(a number, or "nan", "inf" or "-inf")");
}

}  // namespace rung
