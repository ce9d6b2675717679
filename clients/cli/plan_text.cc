#include "clients/cli/plan_text.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "clients/cli/quantity.h"
#include "clients/cli/table.h"

namespace rung::cli {
namespace {

std::optional<double> NumberAt(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string Rounded(std::optional<double> number) {
  return number.has_value() ? CountText(std::llround(*number)) : "-";
}

std::string Shown(std::optional<double> number) { return number ? MetricText(*number) : "-"; }

/// A row a level, and one for the way from the last level to the end.
std::string BracketText(const Json& bracket, const Terminal& terminal) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"LEVEL", kRight}, {"EXPECTED TRIALS", kRight}, {"EXPECTED STEPS", kRight}});
  std::optional<double> left = NumberAt(bracket, "expected_steps");
  if (bracket.contains("rungs")) {
    for (const Json& rung : bracket["rungs"]) {
      const auto steps = NumberAt(rung, "expected_steps");
      if (left) *left -= steps.value_or(0);
      table.AddRow({Rounded(NumberAt(rung, "level")), Shown(NumberAt(rung, "expected_trials")),
                    Rounded(steps)});
    }
  }
  table.AddRow({"end", Shown(NumberAt(bracket, "expected_completed")), Rounded(left)});
  return fmt::format("\nbracket {}:\n", Rounded(NumberAt(bracket, "bracket"))) +
         table.Text({.width = terminal.columns, .colour = terminal.colour, .indent = "  "});
}

}  // namespace

std::string PlanText(const Json& plan, const Terminal& terminal) {
  if (!plan.is_object()) return "";
  std::string text;
  if (const auto max_step = NumberAt(plan, "max_step")) {
    text += fmt::format("max_step: {}\n", Rounded(max_step));
  }
  const auto expected = NumberAt(plan, "expected_steps");
  const auto full = NumberAt(plan, "full_steps");
  if (expected && full && *full > 0) {
    text += fmt::format(
        "steps: about {} expected, {} of the {} that running every trial to its "
        "end takes\n",
        Rounded(expected), PercentText(*expected / *full), Rounded(full));
  }
  if (plan.contains("brackets") && plan["brackets"].is_array()) {
    for (const Json& bracket : plan["brackets"]) text += BracketText(bracket, terminal);
  }
  return text;
}

}  // namespace rung::cli
