#include "clients/cli/experiment_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

struct Options {
  std::string experiment;
  std::optional<int64_t> top;
  std::vector<std::string> states;
  bool json = false;
};

// The words are checked by the option's validator.
pb::TrialState StateOf(const std::string& word) {
  for (int value = pb::TrialState_MIN; value <= pb::TrialState_MAX; ++value) {
    const auto state = static_cast<pb::TrialState>(value);
    if (Word(state) == word) return state;
  }
  return pb::TRIAL_STATE_UNSPECIFIED;
}

Outcome Trials(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto id = SelectExperiment(options.experiment, **client);
  if (!id.ok()) return id.status();
  const auto experiment = (*client)->GetExperiment(*id);
  if (!experiment.ok()) return experiment.status();
  pb::ListTrialsRequest request;
  request.set_experiment_id(*id);
  request.set_order(options.top ? pb::TRIAL_ORDER_BEST : pb::TRIAL_ORDER_NUMBER);
  for (const std::string& word : options.states) request.add_states(StateOf(word));
  const auto trials = (*client)->ListTrials(request, static_cast<size_t>(options.top.value_or(0)));
  if (!trials.ok()) return trials.status();

  Console& console = session.console();
  if (options.json) {
    Json json = Json::array();
    for (const pb::Trial& trial : *trials) json.push_back(ToJson(trial));
    console.out << Dumped(json) << "\n";
    return kSuccess;
  }
  const Terminal& terminal = console.out_terminal;
  console.out << TrialsTable(*trials, *experiment)
                     .Text({.width = terminal.columns, .colour = terminal.colour});
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("EXPERIMENT", options->experiment, "Id or name");
  set.Integer({.flag = "--top", .type_name = "N", .description = "Only the N best, best first"},
              {.min = 1, .max = 1'000'000}, options->top);
  set.Texts(
      {.flag = "--state",
       .type_name = "STATE",
       .description = "Only trials in this state; may be repeated",
       .words = {"queued", "running", "paused", "completed", "stopped", "failed", "cancelled"}},
      options->states);
  set.Flag("--json", options->json, "One JSON array");
  return [options](Session& session) { return Trials(*options, session); };
}

}  // namespace

const Verb kTrials{"trials", "Trials", "List the trials of an experiment",
                   "  rung trials 12\n"
                   "  rung trials 12 --top 5\n"
                   "  rung trials 12 --state failed",
                   Declare};

}  // namespace rung::cli
