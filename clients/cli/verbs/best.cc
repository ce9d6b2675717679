#include <fmt/format.h>

#include "clients/cli/diagnosis.h"
#include "clients/cli/experiment_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/quantity.h"
#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

struct Options {
  std::string experiment;
  bool json = false;
};

Outcome Best(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto id = SelectExperiment(options.experiment, **client);
  if (!id.ok()) return id.status();
  const auto experiment = (*client)->GetExperiment(*id);
  if (!experiment.ok()) return experiment.status();
  if (!experiment->has_best() || !experiment->best().has_best_value()) {
    const std::string why = WhyNoBest(*experiment, **client);
    return absl::FailedPreconditionError(
        fmt::format("experiment {} has no best yet: no trial has a value of its objective, {}{}",
                    *id, experiment->metric(), why.empty() ? "" : "; " + why));
  }
  std::ostream& out = session.console().out;
  if (options.json) {
    Json json = ToJson(experiment->best());
    json["metric"] = experiment->metric();
    json["goal"] = Word(experiment->goal());
    json["best_by"] = Word(experiment->best_by());
    out << Dumped(json) << "\n";
    return kSuccess;
  }
  const pb::Trial& best = experiment->best();
  out << Printable(fmt::format("{} {} ({}), trial {}, step {}", experiment->metric(),
                               MetricText(best.best_value()), ByWhat(experiment->best_by()),
                               TrialText(best), best.best_step()))
      << "\n"
      << Printable(best.params_json()) << "\n";
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("EXPERIMENT", options->experiment, "Id or name");
  set.Flag("--json", options->json, "One JSON document");
  return [options](Session& session) { return Best(*options, session); };
}

}  // namespace

const Verb kBest{"best", "Trials", "Show the best trial of an experiment, and by what it is best",
                 "  rung best 12\n"
                 "  rung best 12 --json | jq .params",
                 Declare};

}  // namespace rung::cli
