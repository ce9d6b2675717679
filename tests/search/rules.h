#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "search/stopping_rule.h"

/// Rules as the tests make them, and what they say in words.
namespace rung {

/// With seed 0.
inline std::unique_ptr<StoppingRule> MakeRule(const StoppingRuleSpec& spec,
                                              Goal goal = Goal::kMaximize) {
  absl::StatusOr<std::unique_ptr<StoppingRule>> rule = MakeStoppingRule(spec, goal, /*seed=*/0);
  EXPECT_TRUE(rule.ok()) << rule.status();
  return *std::move(rule);
}

/// A record in words: "decision reason at level".
inline std::string Words(const DecisionRecord& record) {
  return record.decision + (record.reason.empty() ? "" : " ") + record.reason + " at " +
         std::to_string(record.level);
}

inline std::vector<std::string> Words(const Verdict& verdict) {
  std::vector<std::string> words;
  for (const DecisionRecord& record : verdict.records) words.push_back(Words(record));
  return words;
}

}  // namespace rung
