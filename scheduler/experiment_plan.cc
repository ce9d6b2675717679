#include "scheduler/experiment_plan.h"

#include <fmt/format.h>

#include "core/parameters.h"

namespace rung {
namespace {

std::string OrNull(std::optional<int64_t> n) { return n ? fmt::format("{}", *n) : "null"; }

std::string BracketJson(const PlannedBracket& bracket, bool known) {
  const auto number = [&](double x) { return known ? JsonFloat(x) : std::string("null"); };
  std::string rungs;
  for (const PlannedLevel& level : bracket.levels) {
    rungs += fmt::format("{}{{\"level\":{},\"expected_trials\":{}}}", rungs.empty() ? "" : ",",
                         level.level, number(level.expected_trials));
  }
  return fmt::format(
      "{{\"bracket\":{},\"expected_trials\":{},\"rungs\":[{}],\"expected_completed\":{}}}",
      bracket.index, number(bracket.expected_trials), rungs, number(bracket.expected_completed));
}

}  // namespace

std::string PlanJson(const Plan& plan, std::optional<int64_t> planned_trials) {
  std::string brackets;
  for (const PlannedBracket& bracket : plan.brackets) {
    if (!plan.max_step) continue;  // fifo has one bracket without an end
    brackets += (brackets.empty() ? "" : ",") + BracketJson(bracket, planned_trials.has_value());
  }
  const bool known = planned_trials && plan.max_step;
  return fmt::format(
      "{{\"max_step\":{},\"planned_trials\":{},\"brackets\":[{}],\"expected_steps\":{},"
      "\"full_steps\":{}}}",
      OrNull(plan.max_step), OrNull(planned_trials), brackets,
      known ? JsonFloat(plan.expected_steps) : "null", known ? JsonFloat(plan.full_steps) : "null");
}

}  // namespace rung
