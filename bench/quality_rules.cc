#include "bench/quality_rules.h"

#include <utility>

#include "core/check.h"
#include "search/levels.h"

namespace rung {
namespace {

int32_t BracketsOfHyperband(const AshaSpec& spec) {
  return HyperbandBrackets({.max_t = spec.max_t,
                            .grace_period = spec.grace_period,
                            .reduction_factor = spec.reduction_factor});
}

using Change = void (*)(AshaSpec&);

/// What each does to the default of `asha`.
const std::vector<std::pair<std::string, Change>>& AshaRules() {
  static const auto* const rules = new std::vector<std::pair<std::string, Change>>{
      {kQuantile, [](AshaSpec&) {}},
      {"asha quantile, min_rivals 9", [](AshaSpec& spec) { spec.min_rivals = 9; }},
      {"asha quantile, min_rivals 27", [](AshaSpec& spec) { spec.min_rivals = 27; }},
      {"asha quantile, brackets 2", [](AshaSpec& spec) { spec.brackets = 2; }},
      {"asha quantile, hyperband",
       [](AshaSpec& spec) { spec.brackets = BracketsOfHyperband(spec); }},
      {kTop, [](AshaSpec& spec) { spec.cut = AshaSpec::Cut::kTop; }},
      {"asha promotion", [](AshaSpec& spec) { spec.variant = AshaSpec::Variant::kPromotion; }},
      {"asha promotion, hyperband",
       [](AshaSpec& spec) {
         spec.variant = AshaSpec::Variant::kPromotion;
         spec.brackets = BracketsOfHyperband(spec);
       }},
  };
  return *rules;
}

constexpr const char* kMedian = "median";

StoppingRuleSpec SpecOf(const std::string& name, const QualitySetting& setting) {
  if (name == kFifo) return FifoSpec{};
  if (name == kMedian) {
    MedianSpec spec;
    spec.grace_period = setting.grace_period;
    spec.max_t = setting.max_t;
    return spec;
  }
  AshaSpec spec{
      .max_t = setting.max_t, .grace_period = setting.grace_period, .reduction_factor = 3};
  for (const auto& [known, change] : AshaRules()) {
    if (known == name) {
      change(spec);
      return spec;
    }
  }
  RUNG_CHECK(!"a name of QualityRules()");
  return spec;
}

}  // namespace

std::vector<std::string> QualityRules() {
  std::vector<std::string> names;
  for (const auto& [name, change] : AshaRules()) names.push_back(name);
  names.emplace_back(kMedian);
  names.emplace_back(kFifo);
  return names;
}

RuleMaker MakerOf(const std::string& name, const QualitySetting& setting) {
  const StoppingRuleSpec spec = SpecOf(name, setting);
  return [spec](int64_t seed) {
    absl::StatusOr<std::unique_ptr<StoppingRule>> rule =
        MakeStoppingRule(spec, Goal::kMinimize, seed);
    RUNG_CHECK(rule.ok());
    return *std::move(rule);
  };
}

}  // namespace rung
