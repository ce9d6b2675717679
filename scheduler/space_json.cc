#include "scheduler/space_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/json_message.h"

namespace rung {
namespace {

constexpr int64_t kIntMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kIntMax = std::numeric_limits<int64_t>::max();
constexpr size_t kNameBytesMax = 128;
constexpr size_t kParametersMax = 1'000;

/// Reads the bounds of a form, `{"form": [a, b]}` or `{"form": [a, b, q]}`.
class Bounds {
 public:
  Bounds(const JsonNode& node, std::string_view names, size_t count) : node_(node), names_(names) {
    whole_ = node.json().is_array() && node.json().size() == count;
    if (!whole_) node.Refuse(names);
  }

  double Number(size_t i) const { return whole_ ? node_.Element(i).Number() : 0; }
  int64_t Integer(size_t i, int64_t low = kIntMin, int64_t high = kIntMax) const {
    return whole_ ? node_.Element(i).Integer(low, high) : low;
  }
  double Positive(size_t i) const {
    const double value = Number(i);
    if (whole_ && node_.problems().ok() && !(value > 0)) node_.Element(i).Refuse("> 0");
    return value;
  }
  void Ascending(bool holds) const {
    if (whole_ && node_.problems().ok() && !holds) {
      node_.Refuse(fmt::format("{} with low < high", names_));
    }
  }

 private:
  const JsonNode& node_;
  std::string_view names_;
  bool whole_ = false;
};

std::vector<std::string> ReadValues(const JsonNode& node) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  const size_t count = node.Array(1, "value");
  for (size_t i = 0; i < count; ++i) {
    values.push_back(CanonicalJson(node.Element(i).json()));
    if (!seen.insert(values.back()).second) node.Element(i).Refuse("given once");
  }
  return values;
}

constexpr std::string_view kRange = "[low, high]";
constexpr std::string_view kQuantised = "[low, high, q]";

template <typename Range>
Domain ReadFloatRange(const JsonNode& node) {
  constexpr bool kQ = std::is_same_v<Range, QUniform> || std::is_same_v<Range, QLogUniform>;
  constexpr bool kLog = std::is_same_v<Range, LogUniform> || std::is_same_v<Range, QLogUniform>;
  const Bounds bounds(node, kQ ? kQuantised : kRange, kQ ? 3 : 2);
  Range range;
  range.low = kLog ? bounds.Positive(0) : bounds.Number(0);
  range.high = bounds.Number(1);
  bounds.Ascending(range.low < range.high);
  if (node.problems().ok() && !std::isfinite(range.high - range.low)) {
    node.Refuse("a range whose width is a finite double");
  }
  if constexpr (kQ) range.q = bounds.Positive(2);
  return range;
}

template <typename Range>
Domain ReadIntegerRange(const JsonNode& node) {
  constexpr bool kQ = std::is_same_v<Range, QRandInt>;
  constexpr bool kLog = std::is_same_v<Range, LogRandInt>;
  const Bounds bounds(node, kQ ? kQuantised : kRange, kQ ? 3 : 2);
  Range range;
  range.low = bounds.Integer(0, kLog ? 1 : kIntMin);
  range.high = bounds.Integer(1);
  bounds.Ascending(range.low < range.high);
  int64_t width = 0;
  if (node.problems().ok() && __builtin_sub_overflow(range.high, range.low, &width)) {
    node.Refuse("a range whose width is a 64-bit integer");
  }
  if constexpr (kQ) range.q = bounds.Integer(2, 1);
  return range;
}

template <typename Distribution>
Domain ReadNormal(const JsonNode& node) {
  const Bounds bounds(node, "[mean, sd]", 2);
  const double mean = bounds.Number(0);
  return Distribution{.mean = mean, .sd = bounds.Positive(1)};
}

struct Form {
  std::string_view key;
  Domain (*read)(const JsonNode&);
};
const std::array<Form, 11> kForms{{
    {"uniform", ReadFloatRange<Uniform>},
    {"quniform", ReadFloatRange<QUniform>},
    {"loguniform", ReadFloatRange<LogUniform>},
    {"qloguniform", ReadFloatRange<QLogUniform>},
    {"randint", ReadIntegerRange<RandInt>},
    {"qrandint", ReadIntegerRange<QRandInt>},
    {"lograndint", ReadIntegerRange<LogRandInt>},
    {"normal", ReadNormal<Normal>},
    {"lognormal", ReadNormal<LogNormal>},
    {"choice", [](const JsonNode& node) -> Domain { return Choice{ReadValues(node)}; }},
    {"grid", [](const JsonNode& node) -> Domain { return GridValues{ReadValues(node)}; }},
}};

Domain ReadDomain(const JsonNode& node) {
  if (!node.json().is_object()) return Constant{CanonicalJson(node.json())};
  const JsonObject object(
      node, {"uniform", "quniform", "loguniform", "qloguniform", "randint", "qrandint",
             "lograndint", "normal", "lognormal", "choice", "grid", "when"});
  const Form* found = nullptr;
  for (const Form& form : kForms) {
    if (!object.Find(form.key)) continue;
    if (found != nullptr) {
      node.Refuse(fmt::format("one form, not both \"{}\" and \"{}\"", found->key, form.key));
    }
    found = &form;
  }
  if (found == nullptr) {
    node.Refuse("a form such as {\"uniform\": [0.0, 1.0]}, or a scalar or an array");
    return Constant{"null"};
  }
  return found->read(node.Member(found->key));
}

std::vector<Condition> ReadConditions(const JsonNode& node) {
  std::vector<Condition> conditions;
  if (!node.json().is_object() || node.json().empty()) {
    node.Refuse("an object such as {\"optimizer\": [\"sgd\"]}");
    return conditions;
  }
  for (const auto& member : node.json().items()) {
    const JsonNode values = node.Member(member.key());
    Condition condition{.parameter = member.key(), .values = {}};
    const size_t count = values.Array(1, "value");
    for (size_t i = 0; i < count; ++i) {
      condition.values.push_back(CanonicalJson(values.Element(i).json()));
    }
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

}  // namespace

SpaceSpec ReadSpace(const JsonNode& node) {
  SpaceSpec space;
  if (!node.json().is_object()) {
    node.Refuse("an object of parameters");
    return space;
  }
  if (node.json().size() > kParametersMax) {
    node.problems().Refuse(node.path(), fmt::format("must hold at most {} parameters, found {}",
                                                    kParametersMax, node.json().size()));
    return space;
  }
  for (const auto& member : node.json().items()) {
    const std::string& name = member.key();
    if (name.empty() || name.size() > kNameBytesMax ||
        std::any_of(name.begin(), name.end(),
                    [](char c) { return c == '{' || c == '}' || (c >= 0 && c < ' '); })) {
      node.problems().Refuse(
          PathOfKey(node.path(), name),
          fmt::format("a parameter's name must be 1 to {} bytes without braces or control "
                      "characters",
                      kNameBytesMax));
      return space;
    }
    const JsonNode written = node.Member(name);
    ParameterSpec parameter{.name = name, .domain = ReadDomain(written), .when = {}};
    if (written.json().is_object() && written.json().contains("when")) {
      parameter.when = ReadConditions(written.Member("when"));
    }
    space.parameters.push_back(std::move(parameter));
  }
  return space;
}

Configuration ReadConfiguration(const JsonNode& node) {
  Configuration configuration;
  if (!node.json().is_object()) {
    node.Refuse("an object of parameters");
    return configuration;
  }
  for (const auto& member : node.json().items()) {
    configuration.parameters.push_back(
        {.name = member.key(), .json = CanonicalJson(member.value())});
  }
  return configuration;
}

}  // namespace rung
