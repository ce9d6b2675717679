#include <fmt/format.h>
#include <fmt/ranges.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <pthread.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "core/quantity.h"
#include "scheduler/service.h"

/// rung-scheduler: reads the flags, starts the service, runs its loop until SIGTERM or SIGINT.
namespace rung {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

constexpr char kExamples[] = R"(Examples:
  rung-scheduler
      listens on the Unix socket $RUNG_HOME/rung.sock
  rung-scheduler --listen 127.0.0.1:7070
      also on TCP; callers need the token of $RUNG_HOME/token
  rung-scheduler --listen 10.0.0.5:7070 --insecure-network
      for workers on other machines of an isolated network

State lives in $RUNG_HOME, else $XDG_DATA_HOME/rung, else ~/.local/share/rung.
`rung local up` starts this program and a worker on this machine.)";

struct Flags {
  ServiceConfig service;
  std::string database;
  std::string log_level = "info";
  std::string lease = "30s";
  std::string request_ids_kept = "24h";
};

void Declare(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", "rung-scheduler " RUNG_VERSION);
  app.footer(kExamples);
  app.add_option("--listen", flags.service.listen,
                 "unix or HOST:PORT; repeatable. The Unix socket is always there")
      ->take_all();
  app.add_option("--database", flags.database, "The SQLite file (default: rung.db in $RUNG_HOME)");
  app.add_flag("--insecure-network", flags.service.insecure_network,
               "Allow TCP beyond loopback without encryption");
  app.add_option("--log-level", flags.log_level, "trace, debug, info, warning, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  app.add_option("--lease", flags.lease,
                 "Silence of a worker after which its trials are lost, at least 600ms")
      ->capture_default_str();
  app.add_option("--open-steps-max", flags.service.scheduler.open_steps_per_attempt_max,
                 "Steps of an attempt that may wait for further ranks")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--repeats-kept", flags.service.scheduler.repeats_kept_steps,
                 "Stored steps of an attempt whose repeated reports are answered")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--request-ids-kept", flags.request_ids_kept,
                 "How long a repeated request id gets the first answer, at least 1h")
      ->capture_default_str();
  app.add_option("--events-waiting-max", flags.service.server.events_waiting_max,
                 "Calls and reports that may wait for the loop")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
}

/// The durations among the flags.
absl::Status Complete(Flags& flags) {
  const auto lease = ParseDuration(flags.lease);
  if (!lease.ok() || *lease < std::chrono::milliseconds(600)) {
    return absl::InvalidArgumentError(fmt::format(
        "--lease: must be a duration such as 30s, at least 600ms, found \"{}\"", flags.lease));
  }
  flags.service.scheduler.lease = *lease;
  const auto kept = ParseDuration(flags.request_ids_kept);
  const auto hours =
      kept.ok() ? std::chrono::floor<std::chrono::hours>(*kept) : std::chrono::hours(0);
  if (hours < std::chrono::hours(1) || *kept != hours) {
    return absl::InvalidArgumentError(fmt::format(
        "--request-ids-kept: must be whole hours such as 24h, at least 1h, found \"{}\"",
        flags.request_ids_kept));
  }
  flags.service.scheduler.request_ids_kept = hours;
  flags.service.database = flags.database;
  return absl::OkStatus();
}

int Fail(const absl::Status& status, int exit_status) {
  fmt::print(stderr, "rung-scheduler: {}\n", std::string(status.message()));
  return exit_status;
}

/// Blocked in every thread, so that the one that waits for them gets them.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

int RunUntilSignal(Service& service, const sigset_t& signals) {
  std::thread stopper([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    spdlog::info("stopping on {}", signal == SIGINT ? "SIGINT" : "SIGTERM");
    service.Stop();
  });
  const absl::Status ended = service.Run();
  if (!ended.ok()) pthread_kill(stopper.native_handle(), SIGTERM);
  stopper.join();
  return ended.ok() ? 0 : Fail(ended, kFailed);
}

int Main(int argc, char** argv) {
  CLI::App app{
      "The central service of rung: experiments, trials, workers; gRPC and one SQLite file"};
  Flags flags;
  Declare(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    return Fail(absl::InvalidArgumentError(
                    fmt::format("{}\nRun `rung-scheduler --help` for the options.", error.what())),
                kWrongUsage);
  }
  if (const absl::Status complete = Complete(flags); !complete.ok()) {
    return Fail(complete, kWrongUsage);
  }
  spdlog::set_default_logger(spdlog::stderr_color_mt("rung-scheduler"));
  spdlog::set_level(spdlog::level::from_str(flags.log_level));

  // What matters of gRPC's own log comes back as a status.
  gpr_set_log_function([](gpr_log_func_args* line) { spdlog::debug("grpc: {}", line->message); });
  const sigset_t signals = BlockSignals();  // before the first thread: threads inherit it
  // Held to the end of the process: the library's own end may wait 10 s for its backup poller.
  grpc_init();
  const absl::StatusOr<ServiceHome> home = ServiceHome::Open();
  if (!home.ok()) return Fail(home.status(), kFailed);
  const absl::StatusOr<std::unique_ptr<Service>> service = Service::Start(*home, flags.service);
  if (!service.ok()) {
    return Fail(service.status(),
                absl::IsInvalidArgument(service.status()) ? kWrongUsage : kFailed);
  }
  spdlog::info("rung-scheduler {} listens on {}", RUNG_VERSION,
               fmt::join((*service)->addresses(), ", "));
  return RunUntilSignal(**service, signals);
}

}  // namespace
}  // namespace rung

int main(int argc, char** argv) { return rung::Main(argc, argv); }
