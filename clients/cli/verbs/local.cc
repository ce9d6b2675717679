#include <fmt/format.h>

#include "clients/cli/json_view.h"
#include "clients/cli/local_service.h"
#include "clients/cli/verbs/verbs.h"

namespace rung::cli {
namespace {

struct Options {
  std::vector<std::string> listen;
  std::optional<int64_t> cpus;
  bool insecure_network = false;
  int64_t up_timeout_s = 15;
  int64_t down_timeout_s = 40;
  bool json = false;
  std::function<Outcome(const Options&, Session&)> chosen;
};

Outcome Up(const Options& options, Session& session) {
  const auto home = Home::FromEnvironment();
  if (!home.ok()) return home.status();
  LocalService service(*home, session.console().err);
  const absl::Status up = service.Up({.listen = options.listen,
                                      .insecure_network = options.insecure_network,
                                      .cpus = options.cpus,
                                      .log_level = session.options().log_level,
                                      .patience = std::chrono::seconds(options.up_timeout_s)});
  if (!up.ok()) return up;
  session.console().out << "ready: " << home->folder().string() << "\n";
  return kSuccess;
}

Outcome Down(const Options& options, Session& session) {
  const auto home = Home::FromEnvironment();
  if (!home.ok()) return home.status();
  LocalService service(*home, session.console().err);
  const absl::Status down = service.Down(std::chrono::seconds(options.down_timeout_s));
  if (!down.ok()) return down;
  return kSuccess;
}

Json StatusJson(const Home& home, const LocalStatus& status) {
  const auto daemon = [](const std::optional<DaemonRecord>& record) {
    return Json{{"running", record.has_value()},
                {"pid", record ? Json(record->pid) : Json(nullptr)},
                {"version", record ? Json(record->version) : Json(nullptr)}};
  };
  Json scheduler = daemon(status.scheduler);
  scheduler["answers"] = status.answers;
  scheduler["addresses"] =
      status.scheduler ? Json(status.scheduler->addresses) : Json(Json::array());
  Json worker = daemon(status.worker);
  worker["connected"] = status.worker_connected;
  worker["name"] = status.worker ? Json(status.worker->name) : Json(nullptr);
  const std::string database = status.scheduler && !status.scheduler->database.empty()
                                   ? status.scheduler->database
                                   : (home.folder() / "rung.db").string();
  return Json{{"home", home.folder().string()},
              {"running", status.answers && status.worker_connected},
              {"database", database},
              {"scheduler", scheduler},
              {"worker", worker},
              {"logs", home.logs().string()}};
}

void PrintStatus(const Json& json, std::ostream& out) {
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  const Json& scheduler = json["scheduler"];
  const Json& worker = json["worker"];
  out << "home       " << text(json["home"]) << "\n";
  out << "database   " << text(json["database"]) << "\n";
  out << "logs       " << text(json["logs"]) << "\n";
  if (!scheduler["running"].get<bool>()) {
    out << "scheduler  not running\n";
  } else {
    out << fmt::format("scheduler  {} (pid {})\n",
                       scheduler["answers"].get<bool>() ? "running" : "runs but does not answer",
                       text(scheduler["pid"]));
    for (const Json& address : scheduler["addresses"])
      out << "address    " << text(address) << "\n";
  }
  if (!worker["running"].get<bool>()) {
    out << "worker     not running\n";
  } else {
    out << fmt::format("worker     {}, {} (pid {})\n", text(worker["name"]),
                       worker["connected"].get<bool>() ? "connected" : "not connected",
                       text(worker["pid"]));
  }
}

Outcome Status(const Options& options, Session& session) {
  const auto home = Home::FromEnvironment();
  if (!home.ok()) return home.status();
  Console& console = session.console();
  const Json json = StatusJson(*home, LocalService(*home, console.err).Inspect());
  if (options.json) {
    console.out << Dumped(json) << "\n";
  } else {
    PrintStatus(json, console.out);
  }
  return kSuccess;
}

void DeclareUp(OptionSet& set, Options& options) {
  set.Texts({.flag = "--listen",
             .type_name = "HOST:PORT",
             .description = "A further endpoint of the scheduler; may be repeated"},
            options.listen);
  set.Flag("--insecure-network", options.insecure_network,
           "Allow --listen beyond this machine without encryption; for isolated networks only");
  set.Integer({.flag = "--cpus",
               .type_name = "N",
               .description = "CPUs that the worker offers; all unless given"},
              {.min = 1, .max = 4096}, options.cpus);
  set.Integer({.flag = "--timeout",
               .type_name = "SECONDS",
               .description = "How long to wait until both answer"},
              {.min = 1, .max = 600}, options.up_timeout_s);
}

void DeclareDown(OptionSet& set, Options& options) {
  set.Integer({.flag = "--timeout",
               .type_name = "SECONDS",
               .description = "How long each may take to end before it is killed"},
              {.min = 0, .max = 600}, options.down_timeout_s);
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  Options& values = *options;
  set.Subverb(
      "up", "Start what does not run, and wait until it answers",
      [&](OptionSet& up) { DeclareUp(up, values); }, [&values] { values.chosen = Up; });
  set.Subverb(
      "down", "Stop the worker, then the scheduler; trials that run are queued again",
      [&](OptionSet& down) { DeclareDown(down, values); }, [&values] { values.chosen = Down; });
  set.Subverb(
      "status", "Say what runs, and where; exit status 0 either way",
      [&](OptionSet& status) { status.Flag("--json", values.json, "One JSON document"); },
      [&values] { values.chosen = Status; });
  return [options](Session& session) { return options->chosen(*options, session); };
}

}  // namespace

const Verb kLocal{
    "local", "Service",
    "The scheduler and the worker of this machine. Their state is in $RUNG_HOME, else\n"
    "$XDG_DATA_HOME/rung, else ~/.local/share/rung.",
    "  rung local up --cpus 4\n"
    "  rung local status --json\n"
    "  rung local down",
    Declare};

}  // namespace rung::cli
