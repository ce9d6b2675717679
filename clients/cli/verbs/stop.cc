#include <fmt/format.h>

#include "clients/cli/experiment_text.h"
#include "clients/cli/quantity.h"
#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

Outcome Stop(const std::string& what, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto selection = SelectExperimentOrTrial(what, **client);
  if (!selection.ok()) return selection.status();
  std::ostream& err = session.console().err;
  if (!selection->trial_number.has_value()) {
    const absl::Status stopped = (*client)->StopExperiment(selection->experiment_id);
    if (!stopped.ok()) return stopped;
    const auto experiment = (*client)->GetExperiment(selection->experiment_id);
    if (!experiment.ok()) return experiment.status();
    err << Printable(fmt::format("Experiment {} is {}.", experiment->id(), StateText(*experiment)))
        << "\n";
    return kSuccess;
  }
  const absl::Status stopped =
      (*client)->StopTrial(selection->experiment_id, *selection->trial_number);
  if (!stopped.ok()) return stopped;
  const auto trial = (*client)->GetTrial(selection->experiment_id, *selection->trial_number);
  if (!trial.ok()) return trial.status();
  err << Printable(fmt::format("Trial {} is {}.", TrialText(*trial), StateText(*trial))) << "\n";
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto what =
      std::make_shared<std::string>();  // shared: the parser fills it in, the action reads it
  set.Argument("EXPERIMENT|TRIAL", *what, "12, a name, or 12.3");
  return [what](Session& session) { return Stop(*what, session); };
}

}  // namespace

const Verb kStop{"stop", "Experiments", "End an experiment or a trial; its trials become cancelled",
                 "  rung stop 12\n"
                 "  rung stop 12.3",
                 Declare};

}  // namespace rung::cli
