#include <fmt/format.h>

#include "clients/cli/document_file.h"
#include "clients/cli/experiment_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/local_service.h"
#include "clients/cli/submission.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/wall_clock.h"
#include "clients/cli/watcher.h"

namespace rung::cli {
namespace {

constexpr std::chrono::seconds kUpPatience{15};

struct Options {
  std::string file;
  std::optional<int64_t> cpus;
  bool json = false;
};

absl::Status EnsureService(const Options& options, Session& session) {
  if (!session.options().server.empty()) return absl::OkStatus();
  const auto home = Home::FromEnvironment();
  if (!home.ok()) return home.status();
  LocalService service(*home, session.console().err);
  return service.Up({.listen = {},
                     .insecure_network = false,
                     .cpus = options.cpus,
                     .log_level = session.options().log_level,
                     .patience = kUpPatience});
}

Outcome Run(const Options& options, Session& session) {
  const auto document = ReadDocument(options.file);
  if (!document.ok()) return document.status();
  const absl::Status up = EnsureService(options, session);
  if (!up.ok()) return up;
  auto client = session.client();
  if (!client.ok()) return client.status();
  Console& console = session.console();
  const auto id = SubmitDocument(*document, **client, console);
  if (!id.ok()) return id.status();
  console.err << "experiment " << *id << std::endl;
  // The local service has the one worker of this machine.
  const auto last = Watch(*id,
                          {.stream = console.err,
                           .terminal = console.err_terminal,
                           .ends_when_refused = session.options().server.empty()},
                          session);
  if (!last.ok()) return last.status();

  client = session.client();  // watching may have made the connection anew
  if (!client.ok()) return client.status();
  const auto experiment = (*client)->GetExperiment(*id);
  if (!experiment.ok()) return experiment.status();
  if (options.json) {
    console.out << Dumped(ToJson(*experiment)) << std::endl;
  } else {
    console.out << ExperimentText(*experiment, WallClockUs(), console.out_terminal) << std::flush;
  }
  return ReportEnd(*last, session);
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("FILE", options->file, "Experiment document (JSON); - is standard input");
  set.Integer({.flag = "--cpus",
               .type_name = "N",
               .description = "CPUs that a worker started here offers; all unless given"},
              {.min = 1, .max = 4096}, options->cpus);
  set.Flag("--json", options->json, "The result as one JSON document");
  return [options](Session& session) { return Run(*options, session); };
}

}  // namespace

const Verb kRun{
    "run", "Experiments",
    "Run FILE to its end and print the result. Starts the local service where none runs, unless\n"
    "--server or RUNG_SERVER names another; it stays up (`rung local down` ends it). Ctrl-C ends\n"
    "the watching only. Status 1 if the experiment failed, cannot run here, is paused because\n"
    "its trials fail, or ended without a value of its metric.",
    "  rung run experiment.json\n"
    "  rung run experiment.json --json > result.json",
    Declare};

}  // namespace rung::cli
