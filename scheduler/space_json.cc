#include "scheduler/space_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// The text that identifies `node`'s value in `domain`; a problem when it cannot be drawn there.
class ValueReader {
 public:
  explicit ValueReader(const JsonNode& node) : node_(node) {}

  std::string operator()(const Uniform& d) const { return Float(d.low, d.high); }
  std::string operator()(const LogUniform& d) const { return Float(d.low, d.high); }
  std::string operator()(const QUniform& d) const { return QuantisedFloat(d.low, d.high, d.q); }
  std::string operator()(const QLogUniform& d) const { return QuantisedFloat(d.low, d.high, d.q); }
  std::string operator()(const RandInt& d) const { return Int(d.low, d.high - 1); }
  std::string operator()(const LogRandInt& d) const { return Int(d.low, d.high - 1); }
  std::string operator()(const QRandInt& d) const {
    const int64_t value = node_.Integer(d.low, d.high);
    if (node_.problems().ok() && (value - d.low) % d.q != 0) {
      node_.Refuse(fmt::format("{} plus a multiple of {}", d.low, d.q));
    }
    return std::to_string(value);
  }
  std::string operator()(const Normal&) const { return JsonFloat(node_.Number()); }
  std::string operator()(const LogNormal&) const {
    const double value = node_.Number();
    if (node_.problems().ok() && !(value > 0)) node_.Refuse("> 0");
    return JsonFloat(value);
  }
  std::string operator()(const Choice& d) const { return OneOf(d.values); }
  std::string operator()(const GridValues& d) const { return OneOf(d.values); }
  std::string operator()(const Constant& d) const { return OneOf({d.value}); }

 private:
  std::string Float(double low, double high) const {
    const double value = node_.Number();
    if (!(value >= low && value <= high)) {
      node_.Refuse(fmt::format("from {} to {}", JsonFloat(low), JsonFloat(high)));
    }
    return JsonFloat(value);
  }
  std::string QuantisedFloat(double low, double high, double q) const {
    std::string text = Float(low, high);
    const double steps = (node_.problems().ok() ? node_.Number() - low : 0) / q;
    // A drawn value is rounded to 12 digits, so it lies beside the exact multiple.
    if (std::abs(steps - std::round(steps)) > 1e-6) {
      node_.Refuse(fmt::format("{} plus a multiple of {}", JsonFloat(low), JsonFloat(q)));
    }
    return text;
  }
  std::string Int(int64_t low, int64_t high) const {
    return std::to_string(node_.Integer(low, high));
  }
  std::string OneOf(const std::vector<std::string>& values) const {
    std::string text = CanonicalJson(node_.json());
    if (std::find(values.begin(), values.end(), text) == values.end()) {
      const size_t shown = std::min<size_t>(values.size(), 20);
      node_.Refuse(
          fmt::format("{}{}{}", values.size() > 1 ? "one of " : "",
                      fmt::join(values.begin(), values.begin() + static_cast<long>(shown), ", "),
                      shown < values.size() ? ", …" : ""));
    }
    return text;
  }

  const JsonNode& node_;
};

const ParameterSpec* FindParameter(const SpaceSpec& space, std::string_view name) {
  for (const ParameterSpec& parameter : space.parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

std::vector<std::string> NamesOf(const SpaceSpec& space) {
  std::vector<std::string> names;
  for (const ParameterSpec& parameter : space.parameters) names.push_back(parameter.name);
  return names;
}

std::vector<Condition> ReadConditions(const JsonNode& node, const SpaceSpec& space) {
  std::vector<Condition> conditions;
  if (!node.json().is_object() || node.json().empty()) {
    node.Refuse("an object such as {\"optimizer\": [\"sgd\"]}");
    return conditions;
  }
  for (const auto& member : node.json().items()) {
    const ParameterSpec* parameter = FindParameter(space, member.key());
    if (parameter == nullptr) {
      RequireParameter(node, member.key(), space);
      return conditions;
    }
    const JsonNode values = node.Member(member.key());
    Condition condition{.parameter = member.key(), .values = {}};
    const size_t count = values.Array(1, "value");
    for (size_t i = 0; i < count && node.problems().ok(); ++i) {
      condition.values.push_back(std::visit(ValueReader(values.Element(i)), parameter->domain));
    }
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

/// Records a problem when parameters wait for each other.
void RefuseCycles(const JsonNode& node, const SpaceSpec& space) {
  std::map<std::string_view, int> visits;  // 1: on the path, 2: done
  std::function<bool(const ParameterSpec&)> leads_back = [&](const ParameterSpec& parameter) {
    int& visit = visits[parameter.name];
    if (visit != 0) return visit == 1;
    visit = 1;
    for (const Condition& condition : parameter.when) {
      if (leads_back(*FindParameter(space, condition.parameter))) return true;
    }
    visits[parameter.name] = 2;
    return false;
  };
  for (const ParameterSpec& parameter : space.parameters) {
    if (!leads_back(parameter)) continue;
    node.Member(parameter.name)
        .problems()
        .Refuse(PathOfKey(PathOfKey(node.path(), parameter.name), "when"),
                "must not lead back to a parameter that waits for this one, found a cycle");
    return;
  }
}

}  // namespace

void RequireParameter(const JsonNode& node, const std::string& name, const SpaceSpec& space) {
  if (FindParameter(space, name) != nullptr) return;
  const std::vector<std::string> names = NamesOf(space);
  const std::string near = DidYouMean(name, names);
  node.problems().Refuse(
      PathOfKey(node.path(), name),
      fmt::format("no parameter of the space{} Parameters: {}", near.empty() ? "." : near,
                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

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
    space.parameters.push_back({.name = name, .domain = ReadDomain(node.Member(name)), .when = {}});
  }
  if (!node.problems().ok()) return space;
  for (ParameterSpec& parameter : space.parameters) {
    const JsonNode written = node.Member(parameter.name);
    if (!written.json().is_object() || !written.json().contains("when")) continue;
    parameter.when = ReadConditions(written.Member("when"), space);
  }
  if (node.problems().ok()) RefuseCycles(node, space);
  return space;
}

Configuration ReadConfiguration(const JsonNode& node, const SpaceSpec& space) {
  Configuration configuration;
  if (!node.json().is_object()) {
    node.Refuse("an object of parameters");
    return configuration;
  }
  std::map<std::string_view, std::string> values;
  for (const auto& member : node.json().items()) {
    const ParameterSpec* parameter = FindParameter(space, member.key());
    if (parameter == nullptr) {
      RequireParameter(node, member.key(), space);
      return configuration;
    }
    values[parameter->name] = std::visit(ValueReader(node.Member(member.key())), parameter->domain);
  }
  for (const ParameterSpec& parameter : space.parameters) {
    if (const auto* constant = std::get_if<Constant>(&parameter.domain)) {
      values.try_emplace(parameter.name, constant->value);
    }
  }
  for (const ParameterSpec& parameter : space.parameters) {
    const bool applies =
        std::all_of(parameter.when.begin(), parameter.when.end(), [&](const Condition& condition) {
          const auto value = values.find(condition.parameter);
          return value != values.end() &&
                 std::find(condition.values.begin(), condition.values.end(), value->second) !=
                     condition.values.end();
        });
    const auto value = values.find(parameter.name);
    const std::string path = PathOfKey(node.path(), parameter.name);
    if (applies && value == values.end()) {
      node.problems().Refuse(path, "missing, every parameter that applies must be given");
    } else if (!applies && value != values.end()) {
      node.problems().Refuse(path, "must be left out, since its `when` does not hold");
    } else if (applies) {
      configuration.parameters.push_back({.name = parameter.name, .json = value->second});
    }
  }
  return configuration;
}

}  // namespace rung
