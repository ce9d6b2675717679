#include "scheduler/stopping_json.h"

#include <fmt/format.h>

#include <utility>

#include "search/levels.h"

namespace rung {
namespace {

using Variant = AshaSpec::Variant;

constexpr Steps kStepsMax = 1'000'000'000'000;  // times η stays within 64 bits

Steps ReadSteps(const JsonObject& object, std::string_view key) {
  const auto node = object.Require(key, "a number of steps, at least 1");
  return node ? node->Integer(1, kStepsMax) : 1;
}

/// Promotion is for trials that go on from a checkpoint. Clients of ask/tell keep their own.
Variant ReadVariant(const JsonObject& object, const std::optional<TrialTemplate>& trial) {
  constexpr WordTable<Variant, 2> kVariants{
      {{Variant::kStopping, "stopping"}, {Variant::kPromotion, "promotion"}}};
  const bool resumable = trial && trial->resumable;
  const auto written = object.Find("variant");
  if (!written) return resumable ? Variant::kPromotion : Variant::kStopping;
  const Variant variant = written->Word(kVariants);
  if (variant == Variant::kPromotion && trial && !resumable) {
    written->Refuse(
        "\"stopping\" unless trial.resumable is true (a promoted trial goes on from "
        "its checkpoint)");
  }
  return variant;
}

/// What only the stopping variant knows.
void ReadCut(const JsonObject& object, AshaSpec& spec) {
  const bool promotion = spec.variant == Variant::kPromotion;
  constexpr std::string_view kAbsent =
      "absent with variant \"promotion\", the default of a resumable trial, which stops nobody "
      "(or set \"variant\": \"stopping\")";
  if (const auto cut = object.Find("cut")) {
    constexpr WordTable<AshaSpec::Cut, 2> kCuts{
        {{AshaSpec::Cut::kQuantile, "quantile"}, {AshaSpec::Cut::kTop, "top"}}};
    spec.cut = cut->Word(kCuts);
    if (promotion && spec.cut != AshaSpec::Cut::kQuantile) cut->Refuse(kAbsent);
  }
  if (const auto rivals = object.Find("min_rivals")) {
    spec.min_rivals = rivals->Integer(0, 1'000'000'000);
    if (promotion && spec.min_rivals != 0) rivals->Refuse(kAbsent);
  }
}

/// `hyperband` is a name for asha with all its brackets.
AshaSpec ReadAsha(const JsonNode& node, const std::optional<TrialTemplate>& trial,
                  bool all_brackets) {
  const JsonObject object =
      all_brackets ? JsonObject(node, {"max_t", "grace_period", "reduction_factor", "variant",
                                       "cut", "min_rivals", "non_finite"})
                   : JsonObject(node, {"max_t", "grace_period", "reduction_factor", "brackets",
                                       "variant", "cut", "min_rivals", "non_finite"});
  AshaSpec spec;
  spec.max_t = ReadSteps(object, "max_t");
  spec.grace_period = ReadSteps(object, "grace_period");
  if (const auto factor = object.Require("reduction_factor", "an integer, at least 2")) {
    spec.reduction_factor = factor->Integer(2, 1'000'000);
  }
  if (!node.problems().ok()) return spec;
  if (spec.grace_period > spec.max_t) {
    object.Find("grace_period")->Refuse(fmt::format("at most max_t, which is {}", spec.max_t));
    return spec;
  }
  const int32_t most = HyperbandBrackets({.max_t = spec.max_t,
                                          .grace_period = spec.grace_period,
                                          .reduction_factor = spec.reduction_factor});
  const auto brackets = all_brackets ? std::nullopt : object.Find("brackets");
  if (all_brackets) spec.brackets = most;
  if (brackets) spec.brackets = brackets->Integer32(1, most);
  spec.variant = ReadVariant(object, trial);
  ReadCut(object, spec);
  if (const auto non_finite = object.Find("non_finite")) {
    using NonFinite = AshaSpec::NonFinite;
    constexpr WordTable<NonFinite, 3> kPolicies{
        {{NonFinite::kStop, "stop"}, {NonFinite::kWorst, "worst"}, {NonFinite::kIgnore, "ignore"}}};
    spec.non_finite = non_finite->Word(kPolicies);
  }
  return spec;
}

MedianSpec ReadMedian(const JsonNode& node) {
  const JsonObject object(node, {"grace_period", "min_rivals", "max_t"});
  MedianSpec spec;
  spec.grace_period = ReadSteps(object, "grace_period");
  if (const auto rivals = object.Find("min_rivals")) {
    spec.min_rivals = rivals->Integer(1, 1'000'000'000);
  }
  if (const auto max_t = object.Find("max_t")) spec.max_t = max_t->Integer(1, kStepsMax);
  if (node.problems().ok() && spec.max_t && spec.grace_period > *spec.max_t) {
    object.Find("grace_period")->Refuse(fmt::format("at most max_t, which is {}", *spec.max_t));
  }
  return spec;
}

}  // namespace

StoppingRuleSpec ReadStoppingRule(const JsonNode& node, const std::optional<TrialTemplate>& trial) {
  const JsonObject object(node, {"fifo", "asha", "hyperband", "median"}, {"pbt"});
  const auto fifo = object.Find("fifo");
  const auto asha = object.Find("asha");
  const auto hyperband = object.Find("hyperband");
  const auto median = object.Find("median");
  if (fifo.has_value() + asha.has_value() + hyperband.has_value() + median.has_value() != 1) {
    if (node.json().is_object()) {
      node.Refuse("one of {\"fifo\": {}}, {\"asha\": …}, {\"hyperband\": …}, {\"median\": …}");
    }
    return FifoSpec{};
  }
  if (asha) return ReadAsha(*asha, trial, /*all_brackets=*/false);
  if (hyperband) return ReadAsha(*hyperband, trial, /*all_brackets=*/true);
  if (median) return ReadMedian(*median);
  const JsonObject nothing(*fifo, {});
  return FifoSpec{};
}

}  // namespace rung
