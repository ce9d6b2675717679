#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/watcher.h"

namespace rung::cli {
namespace {

struct Options {
  std::string experiment;
  bool json = false;
};

Outcome WatchVerb(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto id = SelectExperiment(options.experiment, **client);
  if (!id.ok()) return id.status();
  Console& console = session.console();
  const WatchView view{
      .stream = console.out, .terminal = console.out_terminal, .json = options.json};
  const auto last = Watch(*id, view, session);
  if (!last.ok()) return last.status();
  return ReportEnd(*last, session);
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("EXPERIMENT", options->experiment, "Id or name");
  set.Flag("--json", options->json, "One JSON document a line for each update");
  return [options](Session& session) { return WatchVerb(*options, session); };
}

}  // namespace

const Verb kWatch{
    "watch", "Experiments",
    "Follow EXPERIMENT to its end: a live table on a terminal, else a line now and then.\n"
    "Ctrl-C ends the watching only. Status 1 if it failed, is paused because its trials fail\n"
    "(nothing_works, max_failed_trials), or ended without a value of its metric.",
    "  rung watch 12\n"
    "  rung watch 12 --json | jq .experiment.trials",
    Declare};

}  // namespace rung::cli
