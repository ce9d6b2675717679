#include "scheduler/stopping_json.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

namespace rung {
namespace {

constexpr Steps kStepsMax = 1'000'000'000'000;  // times η stays within 64 bits

Steps ReadSteps(const JsonObject& object, std::string_view key) {
  const auto node = object.Require(key, "a number of steps, at least 1");
  return node ? node->Integer(1, kStepsMax) : 1;
}

AshaSpec::Variant ReadVariant(const JsonNode& node, const JsonObject& object, bool resumable) {
  using Variant = AshaSpec::Variant;
  constexpr WordTable<Variant, 2> kVariants{
      {{Variant::kStopping, "stopping"}, {Variant::kPromotion, "promotion"}}};
  const auto written = object.Find("variant");
  Variant variant = resumable ? Variant::kPromotion : Variant::kStopping;
  if (written) variant = written->Word(kVariants);
  if (variant == Variant::kPromotion) {
    node.problems().RefuseForNow(
        PathOfKey(node.path(), "variant"),
        written ? "\"promotion\"" : "\"promotion\" (the default of a resumable trial)",
        "; set \"variant\": \"stopping\"");
  }
  return variant;
}

/// 1 ≤ S ≤ levels + 1, levels being r·η^k below R (EARLY_STOPPING.md §1).
int32_t ReadBrackets(const JsonObject& object, const AshaSpec& spec) {
  const auto node = object.Find("brackets");
  if (!node) return 1;
  int32_t levels = 0;
  for (Steps level = spec.grace_period; level < spec.max_t; level *= spec.reduction_factor) {
    ++levels;
  }
  const int32_t brackets = node->Integer32(1, levels + 1);
  if (brackets > 1) node->problems().RefuseForNow(node->path(), "more than 1 bracket");
  return brackets;
}

AshaSpec ReadAsha(const JsonNode& node, bool resumable) {
  const JsonObject object(node, {"max_t", "grace_period", "reduction_factor", "brackets", "variant",
                                 "cut", "min_rivals", "non_finite"});
  AshaSpec spec;
  spec.max_t = ReadSteps(object, "max_t");
  spec.grace_period = ReadSteps(object, "grace_period");
  if (const auto factor = object.Require("reduction_factor", "an integer, at least 2")) {
    spec.reduction_factor = factor->Integer(2, 1'000'000);
  }
  if (!node.problems().ok()) return spec;
  if (spec.grace_period > spec.max_t) {
    object.Find("grace_period")->Refuse(fmt::format("at most max_t, which is {}", spec.max_t));
  }
  spec.brackets = ReadBrackets(object, spec);
  spec.variant = ReadVariant(node, object, resumable);
  if (const auto cut = object.Find("cut")) {
    constexpr WordTable<AshaSpec::Cut, 1> kCuts{{{AshaSpec::Cut::kQuantile, "quantile"}}};
    constexpr std::array<std::string_view, 1> kLater{"top"};
    spec.cut = cut->Word(kCuts, kLater);
  }
  if (const auto rivals = object.Find("min_rivals")) {
    spec.min_rivals = rivals->Integer(0, 1'000'000'000);
  }
  if (const auto non_finite = object.Find("non_finite")) {
    using NonFinite = AshaSpec::NonFinite;
    constexpr WordTable<NonFinite, 3> kPolicies{
        {{NonFinite::kStop, "stop"}, {NonFinite::kWorst, "worst"}, {NonFinite::kIgnore, "ignore"}}};
    spec.non_finite = non_finite->Word(kPolicies);
  }
  return spec;
}

}  // namespace

StoppingRuleSpec ReadStoppingRule(const JsonNode& node, bool resumable) {
  const JsonObject object(node, {"fifo", "asha"}, {"hyperband", "median", "pbt"});
  const auto fifo = object.Find("fifo");
  const auto asha = object.Find("asha");
  if (fifo.has_value() == asha.has_value()) {
    if (node.json().is_object()) node.Refuse("one of {\"fifo\": {}}, {\"asha\": …}");
    return FifoSpec{};
  }
  if (asha) return ReadAsha(*asha, resumable);
  const JsonObject nothing(*fifo, {});
  return FifoSpec{};
}

}  // namespace rung
