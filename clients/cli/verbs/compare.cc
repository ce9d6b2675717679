#include <fmt/format.h>

#include <cmath>

#include "clients/cli/comparison.h"
#include "clients/cli/comparison_text.h"
#include "clients/cli/experiment_text.h"
#include "clients/cli/progress.h"
#include "clients/cli/reference_rows.h"
#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/wall_clock.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

struct Options {
  std::vector<std::string> experiments;
  std::vector<std::string> shown;
  std::optional<double> price;
  std::string reference;
  bool json = false;
};

// NAME, NAME:max or NAME:min; a metric's own name may hold colons.
ComparedMetric ParseShown(const std::string& text) {
  ComparedMetric metric{.name = text, .maximize = true};
  const size_t colon = text.rfind(':');
  const std::string way = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (way == "max" || way == "min") {
    metric.name = text.substr(0, colon);
    metric.maximize = way == "max";
  }
  return metric;
}

std::vector<std::pair<std::string, int64_t>> CountsOf(const pb::TrialCounts& counts) {
  std::vector<std::pair<std::string, int64_t>> named{
      {"completed", counts.completed()}, {"stopped", counts.stopped()}, {"failed", counts.failed()},
      {"cancelled", counts.cancelled()}, {"running", counts.running()}, {"queued", counts.queued()},
      {"paused", counts.paused()}};
  std::erase_if(named, [](const auto& entry) { return entry.second == 0; });
  return named;
}

ExperimentFacts FactsOf(const pb::Experiment& experiment) {
  ExperimentFacts facts{.id = experiment.id(),
                        .name = experiment.name(),
                        .state = experiment.state() == pb::EXPERIMENT_STATE_COMPLETED
                                     ? Word(experiment.state())
                                     : StateText(experiment),
                        .metric = experiment.metric(),
                        .maximize = experiment.goal() == pb::GOAL_MAXIMIZE,
                        .by_what = ByWhat(experiment.best_by()),
                        .wall_s = ElapsedSeconds(experiment, WallClockUs()),
                        .trials = CountsOf(experiment.trials()),
                        .steps_spent = experiment.steps_spent(),
                        .slot_hours = SlotHours(experiment),
                        .gpu_slots = CountsGpus(experiment),
                        .best_value = {},
                        .best_trial = {},
                        .best_step = {},
                        .best_params_json = {},
                        .values = {}};
  if (experiment.has_best() && experiment.best().has_best_value()) {
    facts.best_value = experiment.best().best_value();
    facts.best_trial = experiment.best().trial_number();
    facts.best_step = experiment.best().best_step();
    facts.best_params_json = experiment.best().params_json();
  }
  return facts;
}

absl::Status AddValues(const pb::Experiment& experiment, const std::string& metric, Client& client,
                       ExperimentFacts& facts) {
  if (facts.values.contains(metric)) return absl::OkStatus();
  std::vector<ReportedValue>& values = facts.values[metric];
  pb::ListMetricsRequest request;
  request.set_experiment_id(experiment.id());
  request.set_name(metric);
  return client.ForEachMetric(request, [&](const pb::Metric& row) {
    values.push_back({.trial_number = row.trial_number(),
                      .step = row.step(),
                      .seconds = static_cast<double>(row.time_us() - experiment.created_us()) / 1e6,
                      .value = row.value()});
  });
}

// A wrong name is said, not shown as a row of dashes.
void WarnOfAbsent(const Comparison& comparison, std::ostream& err) {
  for (size_t i = 1; i < comparison.metrics.size(); ++i) {
    bool reported = false;
    for (const ComparisonColumn& column : comparison.columns) {
      reported = reported || column.metrics[i].best.has_value();
    }
    if (!reported) {
      err << fmt::format("rung: no trial of them reported the metric '{}'\n",
                         comparison.metrics[i].name);
    }
  }
}

Outcome CompareVerb(const Options& options, Session& session) {
  if (options.price.has_value() && !(std::isfinite(*options.price) && *options.price >= 0)) {
    session.console().err << fmt::format(
        "rung: --price: must be a number of at least 0, found {}\n", *options.price);
    return kWrongUsage;
  }
  std::optional<ReferenceRows> reference;
  if (!options.reference.empty()) {
    auto rows = ReadReferenceRows(options.reference);
    if (!rows.ok()) return rows.status();
    reference = *std::move(rows);
  }
  std::vector<ComparedMetric> shown;
  for (const std::string& text : options.shown) shown.push_back(ParseShown(text));

  const auto client = session.client();
  if (!client.ok()) return client.status();
  std::vector<ExperimentFacts> experiments;
  for (const std::string& text : options.experiments) {
    const auto id = SelectExperiment(text, **client);
    if (!id.ok()) return id.status();
    const auto experiment = (*client)->GetExperiment(*id);
    if (!experiment.ok()) return experiment.status();
    ExperimentFacts facts = FactsOf(*experiment);
    // The first one's objective is looked up in all of them.
    std::vector<std::string> names{experiments.empty() ? facts.metric : experiments[0].metric};
    for (const ComparedMetric& metric : shown) names.push_back(metric.name);
    for (const std::string& name : names) {
      const absl::Status added = AddValues(*experiment, name, **client, facts);
      if (!added.ok()) return added;
    }
    experiments.push_back(std::move(facts));
  }
  const Comparison comparison = Compare(std::move(experiments), shown, options.price);
  Console& console = session.console();
  WarnOfAbsent(comparison, console.err);
  if (options.json) {
    console.out << Dumped(ComparisonJson(comparison, reference)) << "\n";
  } else {
    console.out << ComparisonText(comparison, reference, console.out_terminal);
  }
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Arguments("EXPERIMENT", options->experiments,
                "Ids or names; the others are set against the first");
  set.Texts({.flag = "--show",
             .type_name = "METRIC[:max|min]",
             .description = "Also compare this metric (max unless said); may be repeated"},
            options->shown);
  set.Number({.flag = "--price",
              .type_name = "DOLLARS",
              .description = "Price of one slot-hour: adds money = sum of slot-hours x price"},
             options->price);
  set.Text({.flag = "--reference",
            .type_name = "FILE",
            .description = "Figures to print below: {\"title\", \"columns\": [...], "
                           "\"rows\": [{\"label\", \"values\": [...]}], \"note\"}"},
           options->reference);
  set.Flag("--json", options->json, "One JSON document");
  return [options](Session& session) { return CompareVerb(*options, session); };
}

}  // namespace

const Verb kCompare{
    "compare", "Experiments",
    "Compare experiments with the first of them: cost, best, and how soon the first one's best\n"
    "was reached. A slot is one GPU, or one CPU share where no GPU is used.",
    "  rung compare grid asha\n"
    "  rung compare 1 2 --show accuracy:max --show test_accuracy --price 12.24\n"
    "  rung compare 1 2 --reference article.json --json",
    Declare};

}  // namespace rung::cli
