#include "search/value_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/check.h"
#include "core/json_message.h"
#include "core/parameters.h"

namespace rung {
namespace {

std::string Listed(const std::vector<std::string>& values) {
  constexpr size_t kShown = 10;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, values.size()); ++i) {
    text += (i == 0 ? "" : ", ") + ShownJson(values[i]);
  }
  return values.size() > kShown ? text + ", …" : text;
}

/// What a parameter may be, in words.
struct Describe {
  std::string operator()(const Uniform& d) const { return Floats(d.low, d.high); }
  std::string operator()(const LogUniform& d) const { return Floats(d.low, d.high); }
  std::string operator()(const QUniform& d) const { return FloatSteps(d.low, d.high, d.q); }
  std::string operator()(const QLogUniform& d) const { return FloatSteps(d.low, d.high, d.q); }
  std::string operator()(const RandInt& d) const { return Integers(d.low, d.high - 1); }
  std::string operator()(const LogRandInt& d) const { return Integers(d.low, d.high - 1); }
  std::string operator()(const QRandInt& d) const {
    return fmt::format("{} plus a multiple of {}, at most {}", d.low, d.q, d.high);
  }
  std::string operator()(const Normal& /*d*/) const { return "a number"; }
  std::string operator()(const LogNormal& /*d*/) const { return "a number > 0"; }
  std::string operator()(const Choice& d) const { return "one of " + Listed(d.values); }
  std::string operator()(const GridValues& d) const { return "one of " + Listed(d.values); }
  std::string operator()(const Constant& d) const { return ShownJson(d.value); }

 private:
  static std::string Floats(double low, double high) {
    return fmt::format("a number from {} to {}", JsonFloat(low), JsonFloat(high));
  }
  static std::string FloatSteps(double low, double high, double q) {
    return fmt::format("{} plus a multiple of {}, at most {}", JsonFloat(low), JsonFloat(q),
                       JsonFloat(high));
  }
  static std::string Integers(int64_t low, int64_t high) {
    return fmt::format("an integer from {} to {}", low, high);
  }
};

bool InContinuousRange(const Domain& domain, double value) {
  if (const auto* d = std::get_if<Uniform>(&domain)) return value >= d->low && value <= d->high;
  if (const auto* d = std::get_if<LogUniform>(&domain)) return value >= d->low && value <= d->high;
  if (std::holds_alternative<LogNormal>(domain)) return value > 0;
  return true;
}

}  // namespace

std::optional<ValueList> ValueList::Of(const Domain& domain) {
  const auto integers = [](int64_t low, int64_t last, int64_t step) {
    const uint64_t span = static_cast<uint64_t>(last) - static_cast<uint64_t>(low);
    const auto width = static_cast<uint64_t>(step);
    // All 64-bit integers are one more than a count can say; the last one is then left out.
    const uint64_t steps = std::min(span / width, ~uint64_t{0} - 1);
    return ValueList(Integers{.low = low, .step = width, .count = steps + 1});
  };
  const auto decimals = [](const StepRange& range) {
    absl::StatusOr<DecimalSteps> steps = DecimalSteps::Create(range);
    RUNG_CHECK(steps.ok());  // the space was checked
    return ValueList(*std::move(steps));
  };
  if (const auto* d = std::get_if<QUniform>(&domain)) return decimals({d->low, d->high, d->q});
  if (const auto* d = std::get_if<QLogUniform>(&domain)) return decimals({d->low, d->high, d->q});
  if (const auto* d = std::get_if<RandInt>(&domain)) return integers(d->low, d->high - 1, 1);
  if (const auto* d = std::get_if<QRandInt>(&domain)) return integers(d->low, d->high, d->q);
  if (const auto* d = std::get_if<LogRandInt>(&domain)) return integers(d->low, d->high - 1, 1);
  if (const auto* d = std::get_if<Choice>(&domain)) return FromTexts(d->values);
  if (const auto* d = std::get_if<GridValues>(&domain)) return FromTexts(d->values);
  if (const auto* d = std::get_if<Constant>(&domain)) return FromTexts({d->value});
  return std::nullopt;
}

ValueList ValueList::FromTexts(const std::vector<std::string>& texts) {
  RUNG_CHECK(!texts.empty());
  const auto distinct = std::make_shared<Texts>();
  distinct->values.reserve(texts.size());  // they stay where they are, for the views
  distinct->index.reserve(texts.size());
  for (const std::string& text : texts) {
    if (distinct->index.contains(text)) continue;
    distinct->values.push_back(text);
    distinct->index.emplace(distinct->values.back(), distinct->values.size() - 1);
  }
  return ValueList(std::shared_ptr<const Texts>(distinct));
}

uint64_t ValueList::count() const {
  if (const auto* texts = std::get_if<std::shared_ptr<const Texts>>(&values_)) {
    return (*texts)->values.size();
  }
  if (const auto* integers = std::get_if<Integers>(&values_)) return integers->count;
  return static_cast<uint64_t>(std::get<DecimalSteps>(values_).count());
}

std::string ValueList::At(uint64_t index) const {
  RUNG_CHECK(index < count());
  if (const auto* texts = std::get_if<std::shared_ptr<const Texts>>(&values_)) {
    return (*texts)->values[index];
  }
  if (const auto* integers = std::get_if<Integers>(&values_)) {
    const uint64_t value = static_cast<uint64_t>(integers->low) + index * integers->step;
    return fmt::format("{}", static_cast<int64_t>(value));
  }
  return JsonFloat(std::get<DecimalSteps>(values_).At(static_cast<int64_t>(index)));
}

std::optional<uint64_t> ValueList::IndexOf(std::string_view json) const {
  if (const auto* texts = std::get_if<std::shared_ptr<const Texts>>(&values_)) {
    const auto found = (*texts)->index.find(json);
    return found == (*texts)->index.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto* integers = std::get_if<Integers>(&values_)) {
    const std::optional<int64_t> value = ParseJsonInteger(json);
    if (!value || *value < integers->low) return std::nullopt;
    const uint64_t offset = static_cast<uint64_t>(*value) - static_cast<uint64_t>(integers->low);
    if (offset % integers->step != 0) return std::nullopt;
    const uint64_t index = offset / integers->step;
    return index < integers->count ? std::optional(index) : std::nullopt;
  }
  const std::optional<double> value = ParseJsonNumber(json);
  if (!value) return std::nullopt;
  const std::optional<int64_t> index = std::get<DecimalSteps>(values_).IndexOf(*value);
  return index ? std::optional(static_cast<uint64_t>(*index)) : std::nullopt;
}

std::optional<double> ParseJsonNumber(std::string_view json) {
  if (json.empty() || (json[0] != '-' && (json[0] < '0' || json[0] > '9'))) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (error != std::errc() || end != json.data() + json.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t> ParseJsonInteger(std::string_view json) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (error != std::errc() || end != json.data() + json.size()) return std::nullopt;
  return value;
}

absl::StatusOr<std::string> ValueOfDomain(const Domain& domain,
                                          const std::optional<ValueList>& list,
                                          const std::string& json) {
  if (list) {
    const std::optional<uint64_t> index = list->IndexOf(json);
    if (index) return list->At(*index);
  } else {
    const std::optional<double> value = ParseJsonNumber(json);
    if (value && InContinuousRange(domain, *value)) return JsonFloat(*value);
  }
  return absl::InvalidArgumentError(
      fmt::format("must be {}, found {}", std::visit(Describe{}, domain), ShownJson(json)));
}

}  // namespace rung
