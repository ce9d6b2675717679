#include "search/stopping_rule.h"

#include "search/asha_stopping.h"
#include "search/fifo.h"

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
        return absl::UnimplementedError(
            "scheduler.asha.variant: \"promotion\" comes with a later version; \"stopping\" works");
    }
    return absl::InternalError("scheduler.asha.variant: not a variant");
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<StoppingRule>> MakeStoppingRule(const StoppingRuleSpec& spec,
                                                               Goal goal, int64_t seed) {
  return std::visit(Make{goal, seed}, spec);
}

}  // namespace rung
