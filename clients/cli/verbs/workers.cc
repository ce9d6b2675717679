#include <fmt/format.h>

#include "clients/cli/json_view.h"
#include "clients/cli/quantity.h"
#include "clients/cli/table.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/wall_clock.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

std::string CpusText(int64_t milli_cpus) {
  return fmt::format("{:g}", static_cast<double>(milli_cpus) / 1000);
}

Table WorkersTable(const std::vector<pb::Worker>& workers, int64_t now_us) {
  Table table({{"NAME"},
               {"STATE"},
               {"CPUS FREE"},
               {"GPUS FREE"},
               {"MEMORY"},
               {"VERSION"},
               {"LAST SEEN"},
               {"RUNS"}});
  for (const pb::Worker& worker : workers) {
    std::string gpus = fmt::format("{} of {}", worker.free().gpus(), worker.total().gpus());
    if (worker.gpu_names_size() > 0) gpus += fmt::format(" {}", worker.gpu_names(0));
    const auto age_s = static_cast<double>(now_us - worker.last_seen_us()) / 1e6;
    std::string runs;
    for (const pb::AttemptId& id : worker.attempts()) {
      if (!runs.empty()) runs += ' ';
      runs += AttemptText(id);
    }
    const bool connected = worker.state() == "connected";
    const Tone tone = connected ? Tone::kGood : Tone::kBad;
    table.AddRow(
        {worker.name(),
         {worker.state(), tone},
         fmt::format("{} of {}", CpusText(worker.free().milli_cpus()),
                     CpusText(worker.total().milli_cpus())),
         gpus,
         worker.total().memory_bytes() > 0 ? BytesText(worker.total().memory_bytes()) : "-",
         worker.version(),
         connected ? "now" : DurationText(age_s) + " ago",
         runs});
  }
  return table;
}

Outcome Workers(bool json, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto workers = (*client)->ListWorkers();
  if (!workers.ok()) return workers.status();
  Console& console = session.console();
  if (json) {
    Json array = Json::array();
    for (const pb::Worker& worker : *workers) array.push_back(ToJson(worker));
    console.out << Dumped(array) << "\n";
    return kSuccess;
  }
  const Terminal& terminal = console.out_terminal;
  console.out << WorkersTable(*workers, WallClockUs())
                     .Text({.width = terminal.columns, .colour = terminal.colour});
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto json = std::make_shared<bool>(false);  // shared: the parser fills it in, the action reads it
  set.Flag("--json", *json, "One JSON array");
  return [json](Session& session) { return Workers(*json, session); };
}

}  // namespace

const Verb kWorkers{"workers", "Service", "List the training machines, what is free, what they run",
                    "  rung workers", Declare};

}  // namespace rung::cli
