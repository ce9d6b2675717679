#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "clients/cli/json_view.h"
#include "clients/cli/quantity.h"
#include "clients/cli/selector.h"
#include "clients/cli/table.h"
#include "clients/cli/verbs/verbs.h"

namespace rung::cli {
namespace {

struct Options {
  std::string trial;
  std::string name;
  bool superseded = false;
  bool json = false;
};

Table MetricsTable(const std::vector<pb::Metric>& metrics) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"STEP", kRight}, {"NAME"}, {"VALUE"}, {"ATTEMPT", kRight}, {"TIME"}});
  for (const pb::Metric& metric : metrics) {
    const Tone tone = metric.superseded() ? Tone::kDim : Tone::kPlain;
    table.AddRow({{std::to_string(metric.step()), tone},
                  {metric.name(), tone},
                  {MetricText(metric.value()) + (metric.superseded() ? " (superseded)" : ""), tone},
                  {std::to_string(metric.attempt()), tone},
                  {TimeText(metric.time_us()), tone}});
  }
  return table;
}

// What there is instead of the metric that was asked for.
std::string AbsenceText(const std::string& name, const std::set<std::string>& names) {
  if (names.empty()) return "The trial has reported no value.";
  if (name.empty()) return "That attempt of the trial has reported no value.";
  return fmt::format("The trial has reported no {}; it reported {}.", name, fmt::join(names, ", "));
}

Outcome Metrics(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto trial = SelectTrialOrAttempt(options.trial, **client);
  if (!trial.ok()) return trial.status();
  pb::ListMetricsRequest request;
  request.set_experiment_id(trial->experiment_id);
  request.set_trial_number(*trial->trial_number);
  request.set_name(options.name);
  request.set_include_superseded(options.superseded);
  std::vector<pb::Metric> metrics;
  const absl::Status listed = (*client)->ForEachMetric(request, [&](const pb::Metric& metric) {
    if (!trial->attempt.has_value() || metric.attempt() == *trial->attempt) {
      metrics.push_back(metric);
    }
  });
  if (!listed.ok()) return listed;
  Console& console = session.console();
  if (options.json) {
    Json json = Json::array();
    for (const pb::Metric& metric : metrics) json.push_back(ToJson(metric));
    console.out << Dumped(json) << "\n";
    return kSuccess;
  }
  if (metrics.empty()) {
    if (!options.name.empty()) request.clear_name();
    std::set<std::string> names;
    const absl::Status all = (*client)->ForEachMetric(
        request, [&](const pb::Metric& metric) { names.insert(metric.name()); });
    if (!all.ok()) return all;
    console.err << Printable(AbsenceText(options.name, names)) << "\n";
    return kSuccess;
  }
  const Terminal& terminal = console.out_terminal;
  console.out << MetricsTable(metrics).Text({.width = terminal.columns, .colour = terminal.colour});
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("TRIAL", options->trial, "12.3, or 12.3.0 for one attempt");
  set.Text({.flag = "--name", .type_name = "METRIC", .description = "Only this metric"},
           options->name);
  set.Flag("--superseded", options->superseded, "Also values that a later attempt reported anew");
  set.Flag("--json", options->json, "One JSON array");
  return [options](Session& session) { return Metrics(*options, session); };
}

}  // namespace

const Verb kMetrics{"metrics", "Trials", "List what a trial reported",
                    "  rung metrics 12.3\n"
                    "  rung metrics 12.3 --name loss --json",
                    Declare};

}  // namespace rung::cli
