#pragma once

#include "search/stopping_rule.h"

/// No early stopping: every trial runs to its own end.
namespace rung {

class Fifo final : public StoppingRule {
 public:
  int32_t BracketOf(TrialNumber /*trial*/) const override { return 0; }
  std::optional<Steps> MaxStep() const override { return std::nullopt; }
  Verdict OnReport(const RuleReport& /*report*/) override { return {}; }
  void Restore(std::span<const DecisionRecord> /*records*/) override {}
};

}  // namespace rung
