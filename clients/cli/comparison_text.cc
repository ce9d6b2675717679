#include "clients/cli/comparison_text.h"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "clients/cli/quantity.h"
#include "clients/cli/table.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

std::string OrDash(const std::optional<double>& value) { return value ? MetricText(*value) : "-"; }

std::string TrialsText(const ExperimentFacts& facts) {
  int64_t total = 0;
  std::string parts;
  for (const auto& [state, count] : facts.trials) {
    total += count;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, state);
  }
  return parts.empty() ? "0" : fmt::format("{}: {}", total, parts);
}

std::string SavedText(int64_t saved, const std::optional<double>& fraction) {
  if (!fraction.has_value()) return CountText(saved);
  return fmt::format("{} ({})", CountText(saved), PercentText(*fraction));
}

// One row of the table: a label, and a cell for each experiment but those that it does not concern.
class Rows {
 public:
  explicit Rows(const Comparison& comparison) : comparison_(comparison), table_(Columns()) {}

  using CellOf = std::function<std::string(const ExperimentFacts&, const ComparisonColumn&)>;
  void Add(const std::string& label, const CellOf& cell, bool against_first = false) {
    std::vector<Table::Cell> row{{label, Tone::kDim}};
    for (size_t i = 0; i < comparison_.experiments.size(); ++i) {
      row.emplace_back(against_first && i == 0
                           ? std::string("-")
                           : cell(comparison_.experiments[i], comparison_.columns[i]));
    }
    table_.AddRow(std::move(row));
  }
  std::string Text(const Terminal& terminal) const {
    return table_.Text({.width = terminal.columns, .colour = terminal.colour});
  }

 private:
  std::vector<Table::Column> Columns() const {
    std::vector<Table::Column> columns{{""}};
    for (const ExperimentFacts& facts : comparison_.experiments) {
      columns.push_back({fmt::format("{} ({})", facts.name, facts.id)});
    }
    return columns;
  }

  const Comparison& comparison_;
  Table table_;
};

void AddCostRows(const Comparison& comparison, Rows& rows) {
  using Facts = ExperimentFacts;
  using Column = ComparisonColumn;
  rows.Add("state", [](const Facts& f, const Column&) { return f.state; });
  rows.Add("wall time", [](const Facts& f, const Column&) { return DurationText(f.wall_s); });
  if (comparison.experiments.size() > 1) {
    rows.Add(
        "  times faster",
        [](const Facts&, const Column& c) {
          return c.speed_up ? fmt::format("{:.2f}", *c.speed_up) : "-";
        },
        true);
  }
  rows.Add("trials", [](const Facts& f, const Column&) { return TrialsText(f); });
  rows.Add("training steps spent",
           [](const Facts& f, const Column&) { return CountText(f.steps_spent); });
  if (comparison.experiments.size() > 1) {
    rows.Add(
        "  saved against the first",
        [](const Facts&, const Column& c) {
          return SavedText(c.steps_saved, c.steps_saved_fraction);
        },
        true);
  }
  rows.Add("slot-hours", [](const Facts& f, const Column&) {
    return fmt::format("{} ({})", MetricText(f.slot_hours), f.gpu_slots ? "GPU" : "CPU");
  });
  if (!comparison.price.has_value()) return;
  rows.Add(fmt::format("money at {} a slot-hour", MoneyText(*comparison.price)),
           [](const Facts&, const Column& c) { return MoneyText(c.money.value_or(0)); });
  if (comparison.experiments.size() > 1) {
    rows.Add(
        "  saved against the first",
        [](const Facts&, const Column& c) { return MoneyText(c.money_saved.value_or(0)); }, true);
  }
}

void AddWinnerRows(const Comparison& comparison, Rows& rows) {
  using Facts = ExperimentFacts;
  const ExperimentFacts& first = comparison.experiments.front();
  rows.Add(fmt::format("best {} ({})", first.metric, first.by_what),
           [](const Facts& f, const ComparisonColumn&) { return OrDash(f.best_value); });
  rows.Add("  by trial", [](const Facts& f, const ComparisonColumn&) -> std::string {
    if (!f.best_trial) return "-";
    return fmt::format("{} at step {}", TrialText(f.id, *f.best_trial), f.best_step.value_or(0));
  });
  std::vector<std::string> names;
  for (const ExperimentFacts& facts : comparison.experiments) {
    const Json params = Parsed(facts.best_params_json);
    if (!params.is_object()) continue;
    for (const auto& [name, value] : params.items()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    rows.Add(fmt::format("  {}", name),
             [&name](const Facts& f, const ComparisonColumn&) -> std::string {
               const Json params = Parsed(f.best_params_json);
               if (!params.is_object() || !params.contains(name)) return "-";
               const Json& value = params[name];
               if (value.is_number_float()) return MetricText(value.get<double>());
               return value.is_string() ? value.get<std::string>() : value.dump();
             });
  }
}

void AddMetricRows(const Comparison& comparison, size_t index, Rows& rows) {
  const ComparedMetric& metric = comparison.metrics[index];
  const auto outcome = [index](const ComparisonColumn& column) { return column.metrics[index]; };
  if (index > 0) {
    rows.Add(fmt::format("{}, {} of any report", metric.name, metric.maximize ? "max" : "min"),
             [&](const ExperimentFacts&, const ComparisonColumn& column) {
               return OrDash(outcome(column).best);
             });
  }
  rows.Add("  first reached after",
           [&](const ExperimentFacts&, const ComparisonColumn& column) -> std::string {
             const auto reached = outcome(column).best_reached_s;
             return reached ? DurationText(*reached) : "-";
           });
  if (index > 0) {
    rows.Add("  of the best trial, last",
             [&](const ExperimentFacts&, const ComparisonColumn& column) {
               return OrDash(outcome(column).winner_last);
             });
  }
  if (comparison.experiments.size() < 2) return;
  const bool objective = index == 0;
  const std::optional<double> target = objective && comparison.experiments.front().best_value
                                           ? comparison.experiments.front().best_value
                                           : comparison.columns.front().metrics[index].best;
  if (!target.has_value()) return;
  rows.Add(fmt::format("  the first one's {} after", MetricText(*target)),
           [&](const ExperimentFacts&, const ComparisonColumn& column) -> std::string {
             const auto reached = outcome(column).reached_s;
             return reached ? DurationText(*reached) : "never";
           });
}

std::string MoneyFormula(const Comparison& comparison) {
  std::string text = "\nmoney = sum of slot-hours x price of a slot-hour";
  for (size_t i = 0; i < comparison.experiments.size(); ++i) {
    const ExperimentFacts& facts = comparison.experiments[i];
    text += fmt::format("\n  {} ({}): {} x {} = {}", Printable(facts.name), facts.id,
                        MetricText(facts.slot_hours), MoneyText(*comparison.price),
                        MoneyText(comparison.columns[i].money.value_or(0)));
  }
  return text + "\n";
}

std::string ReferenceText(const ReferenceRows& reference, const Terminal& terminal) {
  std::vector<Table::Column> columns{{reference.title}};
  for (const std::string& column : reference.columns) columns.push_back({column});
  Table table(columns);
  for (const ReferenceRows::Row& row : reference.rows) {
    std::vector<Table::Cell> cells{{row.label, Tone::kDim}};
    for (const std::string& value : row.values) cells.emplace_back(value);
    table.AddRow(std::move(cells));
  }
  std::string text = "\n";
  text += table.Text({.width = terminal.columns, .colour = terminal.colour});
  if (!reference.note.empty()) text += Printable(reference.note) + "\n";
  return text;
}

Json MaybeJson(const std::optional<double>& value) { return value ? ToJson(*value) : Json(); }

Json ColumnJson(const Comparison& comparison, size_t index) {
  const ExperimentFacts& facts = comparison.experiments[index];
  const ComparisonColumn& column = comparison.columns[index];
  Json trials = Json::object();
  for (const auto& [state, count] : facts.trials) trials[state] = count;
  Json metrics = Json::array();
  for (size_t i = 0; i < comparison.metrics.size(); ++i) {
    const MetricOutcome& outcome = column.metrics[i];
    metrics.push_back(Json{{"name", comparison.metrics[i].name},
                           {"better", comparison.metrics[i].maximize ? "max" : "min"},
                           {"best", MaybeJson(outcome.best)},
                           {"best_trial_last", MaybeJson(outcome.winner_last)},
                           {"best_reached_s", MaybeJson(outcome.best_reached_s)},
                           {"first_best_reached_s", MaybeJson(outcome.reached_s)}});
  }
  return Json{{"id", facts.id},
              {"name", facts.name},
              {"state", facts.state},
              {"metric", facts.metric},
              {"best_value", MaybeJson(facts.best_value)},
              {"best_by", facts.by_what},
              {"best_trial",
               facts.best_trial ? Json(TrialText(facts.id, *facts.best_trial)) : Json(nullptr)},
              {"best_step", facts.best_step ? Json(*facts.best_step) : Json(nullptr)},
              {"best_params", Parsed(facts.best_params_json)},
              {"wall_s", facts.wall_s},
              {"times_faster", MaybeJson(column.speed_up)},
              {"trials", trials},
              {"steps_spent", facts.steps_spent},
              {"steps_saved", column.steps_saved},
              {"steps_saved_fraction", MaybeJson(column.steps_saved_fraction)},
              {"slot_hours", facts.slot_hours},
              {"slots", facts.gpu_slots ? "gpu" : "cpu"},
              {"money", MaybeJson(column.money)},
              {"money_saved", MaybeJson(column.money_saved)},
              {"metrics", metrics}};
}

}  // namespace

std::string ComparisonText(const Comparison& comparison,
                           const std::optional<ReferenceRows>& reference,
                           const Terminal& terminal) {
  Rows rows(comparison);
  AddCostRows(comparison, rows);
  AddWinnerRows(comparison, rows);
  for (size_t i = 0; i < comparison.metrics.size(); ++i) AddMetricRows(comparison, i, rows);
  std::string text = rows.Text(terminal);
  if (comparison.price.has_value()) text += MoneyFormula(comparison);
  if (reference.has_value()) text += ReferenceText(*reference, terminal);
  return text;
}

Json ComparisonJson(const Comparison& comparison, const std::optional<ReferenceRows>& reference) {
  Json experiments = Json::array();
  for (size_t i = 0; i < comparison.experiments.size(); ++i) {
    experiments.push_back(ColumnJson(comparison, i));
  }
  Json json{{"price", MaybeJson(comparison.price)}, {"experiments", experiments}};
  if (!reference.has_value()) return json;
  Json rows = Json::array();
  for (const ReferenceRows::Row& row : reference->rows) {
    rows.push_back(Json{{"label", row.label}, {"values", row.values}});
  }
  json["reference"] = Json{{"title", reference->title},
                           {"columns", reference->columns},
                           {"rows", rows},
                           {"note", reference->note}};
  return json;
}

}  // namespace rung::cli
