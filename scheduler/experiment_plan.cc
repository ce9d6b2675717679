#include "scheduler/experiment_plan.h"

#include <fmt/format.h>

#include "core/parameters.h"

namespace rung {
namespace {

std::string OrNull(std::optional<int64_t> n) { return n ? fmt::format("{}", *n) : "null"; }
std::string OrNull(std::optional<double> x) { return x ? JsonFloat(*x) : "null"; }

}  // namespace

std::string PlanJson(const StoppingRuleSpec& spec, const StoppingRule& rule,
                     std::optional<int64_t> planned_trials) {
  const std::optional<Steps> max_step = rule.MaxStep();
  const auto* asha = std::get_if<AshaSpec>(&spec);
  std::optional<double> trials;
  if (planned_trials) trials = static_cast<double>(*planned_trials);

  std::string rungs;
  std::optional<double> steps = trials && max_step ? std::optional(0.0) : std::nullopt;
  Steps from = 0;
  for (const Steps level : rule.Levels()) {
    rungs += fmt::format("{}{{\"level\":{},\"expected_trials\":{}}}", rungs.empty() ? "" : ",",
                         level, OrNull(trials));
    if (steps) *steps += *trials * static_cast<double>(level - from);
    if (trials && asha != nullptr) *trials /= static_cast<double>(asha->reduction_factor);
    from = level;
  }
  if (steps) *steps += *trials * static_cast<double>(*max_step - from);

  std::optional<int64_t> full;
  if (planned_trials && max_step) full = *planned_trials * *max_step;
  return fmt::format(
      "{{\"max_step\":{},\"planned_trials\":{},\"brackets\":[{}],\"expected_steps\":{},"
      "\"full_steps\":{}}}",
      OrNull(max_step), OrNull(planned_trials),
      rungs.empty() ? "" : fmt::format("{{\"bracket\":0,\"rungs\":[{}]}}", rungs), OrNull(steps),
      OrNull(full));
}

}  // namespace rung
