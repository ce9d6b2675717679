#include <fmt/format.h>

#include "clients/cli/experiment_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"

namespace rung::cli {
namespace {

struct Options {
  std::string experiment;
  bool json = false;
};

Outcome Rungs(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto id = SelectExperiment(options.experiment, **client);
  if (!id.ok()) return id.status();
  const auto experiment = (*client)->GetExperiment(*id);
  if (!experiment.ok()) return experiment.status();
  Console& console = session.console();
  if (options.json) {
    console.out << Dumped(ToJson(*experiment)["rungs"]) << "\n";
    return kSuccess;
  }
  if (experiment->rungs_size() == 0) {
    console.err << fmt::format("No trial of experiment {} has reached a rung.\n", *id);
    return kSuccess;
  }
  const Terminal& terminal = console.out_terminal;
  console.out
      << RungsTable(*experiment).Text({.width = terminal.columns, .colour = terminal.colour});
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("EXPERIMENT", options->experiment, "Id or name");
  set.Flag("--json", options->json, "One JSON array");
  return [options](Session& session) { return Rungs(*options, session); };
}

}  // namespace

const Verb kRungs{"rungs", "Experiments",
                  "Show how many trials reached each rung, and how many went on", "  rung rungs 12",
                  Declare};

}  // namespace rung::cli
