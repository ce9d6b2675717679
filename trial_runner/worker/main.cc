// rung-worker: the daemon on every training machine.

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "core/quantity.h"
#include "trial_runner/launch/descriptor_limit.h"
#include "trial_runner/worker/agent.h"

extern char** environ;

namespace rung::worker {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

constexpr const char* kExamples = R"(Examples:
  rung-worker --server unix:$HOME/.local/share/rung/rung.sock
  rung-worker --server gpu-head:7070 --token-file token --insecure-network
  rung-worker --server 127.0.0.1:7070 --name second --home /tmp/second --cpus 2 --gpus 0

Reads RUNG_SERVER and RUNG_HOME where --server and --home are not given.
SIGTERM ends it: its trials get SIGTERM, their grace (at most 30 s), then SIGKILL.)";

struct Options {
  std::string server;
  std::string token_file;
  std::string home;
  std::string name;
  std::optional<double> cpus;
  std::string memory;
  std::optional<int32_t> gpus;
  std::string log_level = "info";
  bool insecure_network = false;
  std::string tls;
};

void DeclareOptions(CLI::App& app, Options& options) {
  app.add_option("--server", options.server, "Scheduler, required: HOST:PORT, unix:PATH or /PATH")
      ->envname("RUNG_SERVER");
  app.add_option("--token-file", options.token_file,
                 "File of lines name:secret for TCP (default: 'token' in the home folder)");
  app.add_option("--home", options.home,
                 "Folder of logs, checkpoints and sockets; one worker each (default: $RUNG_HOME)");
  app.add_option("--name", options.name, "Unique name (default: the host's)");
  app.add_option("--cpus", options.cpus, "CPUs to offer instead of those found")
      ->check(CLI::Range(0.001, 1e6));
  app.add_option("--memory", options.memory, "Memory to offer, like 8GiB");
  app.add_option("--gpus", options.gpus,
                 "GPUs to offer: the first N of those found (of $CUDA_VISIBLE_DEVICES, if set)")
      ->check(CLI::Range(0, 1024));
  app.add_option("--log-level", options.log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  app.add_flag("--insecure-network", options.insecure_network,
               "Send the token unencrypted beyond this machine; for isolated networks only");
  app.add_option("--tls-cert,--tls-key,--tls-ca", options.tls, "Come with a later version");
  app.set_version_flag("--version", "rung-worker " RUNG_VERSION);
  app.footer(kExamples);
}

int Fail(int status, const std::string& message) {
  std::cerr << "rung-worker: " << message << "\n";
  return status;
}

int Fail(int status, const absl::Status& error) {
  return Fail(status, std::string(error.message()));
}

std::string HostName() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "worker";
}

/// The token for this server: none over a Unix socket.
absl::StatusOr<TokenFile> TokenFor(const Options& options, const ServerAddress& server,
                                   const WorkerHome& home) {
  if (server.is_unix) return TokenFile();
  if (!options.token_file.empty()) return TokenFile::Open(options.token_file);
  if (std::filesystem::exists(home.token_file())) return TokenFile::Open(home.token_file());
  return absl::FailedPreconditionError(fmt::format(
      "a scheduler over TCP asks for a token: name a file with --token-file, or put one at '{}'",
      home.token_file().string()));
}

std::vector<std::string> OuterEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

int Serve(const Options& options, const ServerAddress& server,
          const InventoryOverrides& overrides) {
  std::filesystem::path folder = options.home;
  if (folder.empty()) {
    const absl::StatusOr<std::filesystem::path> found = WorkerHome::DefaultFolder();
    if (!found.ok()) return Fail(kFailed, found.status());
    folder = *found;
  }
  const absl::StatusOr<WorkerHome> home = WorkerHome::Open(folder);
  if (!home.ok()) return Fail(kFailed, home.status());
  const absl::StatusOr<TokenFile> token = TokenFor(options, server, *home);
  if (!token.ok()) return Fail(kFailed, token.status());

  AgentConfig config{
      .name = options.name.empty() ? HostName() : options.name,
      .server = server,
      .token = *token,
      .shim_path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "rung-shim",
      .outer_environment = OuterEnvironment(),
      .rank_descriptors_max = RaiseDescriptorLimit()};
  if (access(config.shim_path.c_str(), X_OK) != 0) {
    return Fail(kFailed,
                fmt::format("'{}' is missing: it belongs beside rung-worker", config.shim_path));
  }
  const WorkerRecord record{
      .pid = getpid(), .name = config.name, .server = server.target, .version = RUNG_VERSION};
  if (const absl::Status status = home->WriteRecord(record); !status.ok()) {
    return Fail(kFailed, status);
  }
  const Inventory inventory = TakeInventory(overrides);
  for (const std::string& note : inventory.notes) spdlog::info("{}", note);
  spdlog::info("offers CPUs: {}, memory: {} MiB, GPUs: {}; home '{}'",
               static_cast<double>(inventory.total.milli_cpus) / 1000,
               inventory.total.memory_bytes >> 20, inventory.total.gpus, home->folder().string());
  const absl::Status ended = Agent(std::move(config), *home, inventory).Run();
  home->RemoveRecord();
  if (!ended.ok()) return Fail(kFailed, ended);
  spdlog::info("ended");
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app{"rung-worker: finds CPUs and GPUs, runs trials, forwards their reports"};
  DeclareOptions(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    return Fail(kWrongUsage,
                fmt::format("{}\nRun `rung-worker --help` for the options.", error.what()));
  }
  if (options.server.empty()) {
    return Fail(kWrongUsage, "--server is required (RUNG_SERVER names it too)");
  }
  spdlog::set_default_logger(spdlog::stderr_color_mt("rung-worker"));
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  if (!options.tls.empty()) {
    return Fail(kWrongUsage, "--tls-cert, --tls-key and --tls-ca come with a later version");
  }
  const absl::StatusOr<ServerAddress> server = ParseServerAddress(options.server);
  if (!server.ok()) return Fail(kWrongUsage, server.status());
  InventoryOverrides overrides{.gpus = options.gpus};
  if (options.cpus) overrides.milli_cpus = std::llround(*options.cpus * 1000);
  if (!options.memory.empty()) {
    const absl::StatusOr<int64_t> bytes = ParseSize(options.memory);
    if (!bytes.ok()) {
      const std::string why(bytes.status().message());
      return Fail(kWrongUsage, "--memory: " + why);
    }
    if (*bytes == 0) return Fail(kWrongUsage, "--memory: must be more than 0B");
    overrides.memory_bytes = *bytes;
  }
  if (!server->is_loopback) {
    if (!options.insecure_network) {
      return Fail(kWrongUsage,
                  "--server: TLS comes with a later version; beyond this machine only "
                  "isolated networks are possible, with --insecure-network");
    }
    spdlog::warn("--insecure-network: the token and all data go unencrypted to {}", server->target);
  }
  // Orphans of a killed shim come to this process, which ends them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  return Serve(options, *server, overrides);
}

}  // namespace
}  // namespace rung::worker

int main(int argc, char** argv) { return rung::worker::Main(argc, argv); }
