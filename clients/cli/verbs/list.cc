#include <fmt/format.h>

#include "clients/cli/experiment_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/quantity.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/wall_clock.h"

namespace rung::cli {
namespace {

struct Options {
  std::string name;
  bool json = false;
};

Outcome List(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto experiments = (*client)->ListExperiments(options.name);
  if (!experiments.ok()) return experiments.status();
  Console& console = session.console();
  if (options.json) {
    Json json = Json::array();
    for (const pb::Experiment& experiment : *experiments) json.push_back(ToJson(experiment));
    console.out << Dumped(json) << "\n";
    return kSuccess;
  }
  if (experiments->empty()) {
    console.err << (options.name.empty()
                        ? "There is no experiment yet: `rung submit FILE` makes one."
                        : Printable(fmt::format("No experiment has the name '{}'.", options.name)))
                << "\n";
    return kSuccess;
  }
  const Terminal& terminal = console.out_terminal;
  console.out << ExperimentsTable(*experiments, WallClockUs())
                     .Text({.width = terminal.columns, .colour = terminal.colour});
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Text({.flag = "--name", .type_name = "NAME", .description = "Only experiments of this name"},
           options->name);
  set.Flag("--json", options->json, "One JSON array");
  return [options](Session& session) { return List(*options, session); };
}

}  // namespace

const Verb kList{"list", "Experiments", "List all experiments, newest first", "  rung list",
                 Declare};

}  // namespace rung::cli
