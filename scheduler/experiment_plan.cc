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
    rungs += fmt::format("{}{{\"level\":{},\"expected_trials\":{},\"expected_steps\":{}}}",
                         rungs.empty() ? "" : ",", level.level, number(level.expected_trials),
                         number(level.expected_steps));
  }
  return fmt::format(
      "{{\"bracket\":{},\"expected_trials\":{},\"rungs\":[{}],\"expected_completed\":{},"
      "\"expected_steps\":{}}}",
      bracket.index, number(bracket.expected_trials), rungs, number(bracket.expected_completed),
      number(bracket.expected_steps));
}

}  // namespace

std::string PlanJson(const Plan& plan, std::optional<int64_t> planned_trials) {
  std::string brackets;
  for (const PlannedBracket& bracket : plan.brackets) {
    brackets += (brackets.empty() ? "" : ",") + BracketJson(bracket, planned_trials.has_value());
  }
  const auto steps = [&](std::optional<double> n) {
    return n && planned_trials ? JsonFloat(*n) : std::string("null");
  };
  return fmt::format(
      "{{\"max_step\":{},\"planned_trials\":{},\"brackets\":[{}],\"expected_steps\":{},"
      "\"full_steps\":{}}}",
      OrNull(plan.max_step), OrNull(planned_trials), brackets, steps(plan.expected_steps),
      steps(plan.full_steps));
}

}  // namespace rung
