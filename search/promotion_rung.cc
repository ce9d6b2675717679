#include "search/promotion_rung.h"

namespace rung {

void PromotionRung::Promote(double value, TrialNumber trial) {
  waiting_.Erase(value, trial);
  promoted_.Insert(value, trial);
}

void PromotionRung::Disqualify(double value, TrialNumber trial) {
  waiting_.Erase(value, trial);
  disqualified_.Insert(value, trial);
}

int64_t PromotionRung::BetterThan(double value, TrialNumber trial) const {
  return EligibleBetterThan(value, trial) + disqualified_.BetterThan(value, trial);
}

int64_t PromotionRung::EligibleBetterThan(double value, TrialNumber trial) const {
  return waiting_.BetterThan(value, trial) + promoted_.BetterThan(value, trial);
}

}  // namespace rung
