#include "clients/cli/experiment_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/wall_clock.h"

namespace rung::cli {
namespace {

struct Options {
  std::string what;
  bool json = false;
};

Outcome ShowExperiment(const Options& options, const pb::Experiment& experiment, Console& console) {
  if (options.json) {
    console.out << Dumped(ToJson(experiment)) << "\n";
  } else {
    console.out << ExperimentText(experiment, WallClockUs(), console.out_terminal);
  }
  return kSuccess;
}

Outcome Show(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto selection = SelectExperimentOrTrial(options.what, **client);
  if (!selection.ok()) return selection.status();
  const auto experiment = (*client)->GetExperiment(selection->experiment_id);
  if (!experiment.ok()) return experiment.status();
  Console& console = session.console();
  if (!selection->trial_number.has_value()) return ShowExperiment(options, *experiment, console);

  const auto trial = (*client)->GetTrial(selection->experiment_id, *selection->trial_number);
  if (!trial.ok()) return trial.status();
  if (options.json) {
    console.out << Dumped(ToJson(*trial)) << "\n";
  } else {
    console.out << TrialText(*trial, *experiment, WallClockUs(), console.out_terminal);
  }
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("EXPERIMENT|TRIAL", options->what, "12, a name, or 12.3");
  set.Flag("--json", options->json, "One JSON document, with the experiment's document");
  return [options](Session& session) { return Show(*options, session); };
}

}  // namespace

const Verb kShow{"show", "Experiments", "Show an experiment, or a trial with its attempts",
                 "  rung show 12\n"
                 "  rung show 12.3",
                 Declare};

}  // namespace rung::cli
