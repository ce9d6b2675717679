#include <fmt/format.h>

#include "clients/cli/document_file.h"
#include "clients/cli/json_view.h"
#include "clients/cli/submission.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/watcher.h"

namespace rung::cli {
namespace {

struct Options {
  std::string file;
  bool watch = false;
  bool json = false;
};

Outcome Submit(const Options& options, Session& session) {
  const auto document = ReadDocument(options.file);
  if (!document.ok()) return document.status();
  const auto client = session.client();
  if (!client.ok()) return client.status();
  Console& console = session.console();
  const auto id = SubmitDocument(*document, **client, console);
  if (!id.ok()) return id.status();
  if (options.json) {
    console.out << Dumped(Json{{"experiment_id", *id}}) << std::endl;
  } else {
    console.out << *id << std::endl;
  }
  if (!options.watch) {
    console.err << fmt::format("Experiment {0} is submitted: `rung watch {0}` follows it.", *id)
                << std::endl;
    return kSuccess;
  }
  const auto last = Watch(*id, {.stream = console.err, .terminal = console.err_terminal}, session);
  if (!last.ok()) return last.status();
  return ReportEnd(*last, session);
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("FILE", options->file, "Experiment document (JSON); - is standard input");
  set.Flag(
      "--watch", options->watch,
      "Follow it to its end; status 1 if it failed, is paused because its trials fail, or ended "
      "without a value of its metric");
  set.Flag("--json", options->json, "Print {\"experiment_id\": …}");
  return [options](Session& session) { return Submit(*options, session); };
}

}  // namespace

const Verb kSubmit{"submit", "Experiments", "Create an experiment from FILE and print its id",
                   "  rung submit experiment.json\n"
                   "  id=$(rung submit experiment.json)\n"
                   "  rung submit experiment.json --watch",
                   Declare};

}  // namespace rung::cli
