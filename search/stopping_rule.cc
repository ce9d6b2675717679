#include "search/stopping_rule.h"

#include "core/check.h"
#include "search/asha_promotion.h"
#include "search/asha_stopping.h"
#include "search/fifo.h"
#include "search/median_stopping.h"

namespace rung {
namespace {

struct Make {
  Goal goal;
  int64_t seed;

  absl::StatusOr<std::unique_ptr<StoppingRule>> operator()(const FifoSpec& /*spec*/) const {
    return std::make_unique<Fifo>();
  }
  absl::StatusOr<std::unique_ptr<StoppingRule>> operator()(const AshaSpec& spec) const {
    switch (spec.variant) {
      case AshaSpec::Variant::kStopping:
        return AshaStopping::Create(spec, goal, seed);
      case AshaSpec::Variant::kPromotion:
        return AshaPromotion::Create(spec, goal, seed);
    }
    return absl::InternalError("scheduler.asha.variant: not a variant");
  }
  absl::StatusOr<std::unique_ptr<StoppingRule>> operator()(const MedianSpec& spec) const {
    return MedianStopping::Create(spec, goal);
  }
};

}  // namespace

void StoppingRule::Observe(const RuleReport&) {}

std::optional<TrialNumber> StoppingRule::NextPromotion(std::optional<TrialNumber>) const {
  return std::nullopt;
}

std::optional<TrialNumber> StoppingRule::NextDrain() const { return std::nullopt; }

Verdict StoppingRule::Promote(TrialNumber, Grant) {
  RUNG_CHECK(false);  // the two above name nobody
  return {};
}

void StoppingRule::PromoteOnArrival(Grant, Verdict&) {
  RUNG_CHECK(false);  // OnReport never says pause
}

void StoppingRule::OnTrialEnded(TrialNumber, TrialState) {}

absl::StatusOr<std::unique_ptr<StoppingRule>> MakeStoppingRule(const StoppingRuleSpec& spec,
                                                               Goal goal, int64_t seed) {
  return std::visit(Make{goal, seed}, spec);
}

}  // namespace rung
