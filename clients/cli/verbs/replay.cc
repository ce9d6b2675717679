#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <istream>
#include <memory>

#include "clients/cli/hindsight_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/quantity.h"
#include "clients/cli/selector.h"
#include "clients/cli/stored_experiment.h"
#include "clients/cli/verbs/verbs.h"
#include "replay/trace_json.h"
#include "replay/trace_run.h"

namespace rung::cli {
namespace {

struct Options {
  std::string what;
  std::string scheduler;
  bool json = false;
};

/// A trace is a file that exists, or at least looks like one: experiments have no such names. An
/// id is always an experiment.
bool IsTrace(const std::string& what) {
  if (ParseNumbers(what)) return false;
  std::error_code error;
  return what == "-" || what.ends_with(".json") || what.find('/') != what.npos ||
         std::filesystem::exists(what, error);
}

absl::StatusOr<std::string> ReadWhole(std::istream& stream, const std::string& name) {
  std::string text;
  const auto buffer = std::make_unique<char[]>(1 << 20);
  while (stream.read(buffer.get(), 1 << 20) || stream.gcount() > 0) {
    text.append(buffer.get(), static_cast<size_t>(stream.gcount()));
    if (text.size() > kTraceBytesMax) {
      return absl::FailedPreconditionError(fmt::format(
          "{} is longer than {} bytes, the most that a trace may have", name, kTraceBytesMax));
    }
  }
  return text;
}

absl::StatusOr<std::string> ReadFile(const std::string& file) {
  if (file == "-") return ReadWhole(std::cin, "standard input");
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    return absl::FailedPreconditionError(
        fmt::format("{} is a folder; a trace (JSON) is wanted", file));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return absl::NotFoundError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
  }
  return ReadWhole(stream, file);
}

void TellComparison(const PeerComparison& c, const Peer& peer, bool json, Console& console) {
  if (json) {
    console.out << Dumped(Json{{"peer", peer.name},
                               {"version", peer.version},
                               {"decisions", c.decisions},
                               {"differ", c.differ},
                               {"beyond_end", c.beyond_end},
                               {"cutoffs", c.cutoffs},
                               {"cutoffs_differ", c.cutoffs_differ},
                               {"first_difference",
                                c.first_difference ? Json(*c.first_difference) : Json(nullptr)}})
                << "\n";
    return;
  }
  std::string text =
      fmt::format("{} {}: {} compared, {} differ", Printable(peer.name), Printable(peer.version),
                  CountText(c.decisions, "decision"), CountText(c.differ));
  if (peer.has_cutoffs) {
    text += fmt::format("; {} compared bit for bit, {} differ", CountText(c.cutoffs, "cutoff"),
                        CountText(c.cutoffs_differ));
  }
  if (c.first_difference) text += fmt::format("; the first at events[{}]", *c.first_difference);
  if (c.beyond_end > 0) {
    text +=
        fmt::format("; {} at or past max_t not compared, where {} trains on and rung ends a trial",
                    CountText(c.beyond_end), Printable(peer.name));
  }
  console.err << text << "\n";
}

Outcome ReplayTrace(const Options& options, Session& session) {
  const auto text = ReadFile(options.what);
  if (!text.ok()) return text.status();
  const auto trace = ReadTrace(*text);
  if (!trace.ok()) return trace.status();
  Console& console = session.console();
  const auto comparison = RunTrace(*trace, [&](std::string_view lines) { console.out << lines; });
  if (!comparison.ok()) return comparison.status();
  if (*comparison) TellComparison(**comparison, *trace->peer, options.json, console);
  return kSuccess;
}

/// Its own scheduler: the stored decisions are those of the rule, or they are not.
Outcome CheckStored(const Options& options, const StoredExperiment& stored, Console& console) {
  const absl::Status checked = CheckExperiment(stored.experiment.document(), stored.Record());
  const bool differs = absl::IsFailedPrecondition(checked);
  if (!checked.ok() && !(differs && options.json)) return checked;
  const size_t rows = stored.decisions.size();
  if (options.json) {
    console.out << Dumped(Json{{"experiment_id", stored.experiment.id()},
                               {"decisions", rows},
                               {"equal", !differs},
                               {"difference",
                                differs ? Json(std::string(checked.message())) : Json(nullptr)}})
                << "\n";
    return differs ? kRequestFailed : kSuccess;
  }
  console.out << fmt::format(
      "experiment {}: its {} on {} {} again by its scheduler, every row the same\n",
      stored.experiment.id(), CountText(static_cast<int64_t>(rows), "stored decision"),
      CountText(static_cast<int64_t>(stored.objective.size()), "report"),
      rows == 1 ? "is taken" : "are taken");
  return kSuccess;
}

Outcome ReplayExperiment(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto id = SelectExperiment(options.what, **client);
  if (!id.ok()) return id.status();
  const auto stored = LoadStoredExperiment(*id, **client);
  if (!stored.ok()) return stored.status();
  Console& console = session.console();
  if (options.scheduler.empty()) return CheckStored(options, *stored, console);
  const auto hindsight =
      LookBackUnder(stored->experiment.document(), options.scheduler, stored->Curves());
  if (!hindsight.ok()) return hindsight.status();
  if (options.json) {
    console.out << Dumped(HindsightJson(*hindsight, *stored, options.scheduler)) << "\n";
  } else {
    console.out << HindsightText(*hindsight, *stored, options.scheduler, console.out_terminal);
  }
  return kSuccess;
}

Outcome Replay(const Options& options, Session& session) {
  if (!IsTrace(options.what)) return ReplayExperiment(options, session);
  if (!options.scheduler.empty()) {
    return absl::InvalidArgumentError(
        "--scheduler is for a recorded experiment: a trace names its own in the key `scheduler`");
  }
  return ReplayTrace(options, session);
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("TRACE|EXPERIMENT", options->what,
               "A trace file (- is standard input), or an experiment's id or name");
  set.Text({.flag = "--scheduler",
            .type_name = "JSON",
            .description = "What another scheduler would have decided on the recorded curves"},
           options->scheduler);
  set.Flag("--json", options->json,
           "One JSON document; of a trace, whose decisions always are, the comparison with a "
           "peer's as the last line");
  return [options](Session& session) { return Replay(*options, session); };
}

}  // namespace

const Verb kReplay{
    "replay", "Experiments",
    "Take the decisions of a trace, or of an experiment that has ended, again\n"
    "A trace (JSON, docs/replay.md) needs no service: one line of JSON an event. An experiment's\n"
    "stored decisions are compared with what its scheduler decides on its stored reports; status "
    "1\n"
    "if one differs.",
    "  rung replay trace.json\n"
    "  rung replay 12\n"
    "  rung replay 12 --scheduler '{\"asha\": {\"max_t\": 27, \"grace_period\": 1, "
    "\"reduction_factor\": 3}}'",
    Declare};

}  // namespace rung::cli
