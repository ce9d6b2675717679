#include "scheduler/service.h"

#include <fmt/format.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/check.h"
#include "proto/utf8.h"
#include "scheduler/caller.h"
#include "scheduler/endpoint.h"
#include "scheduler/message_outbox.h"
#include "scheduler/reply_table.h"
#include "scheduler/ticker.h"
#include "scheduler/tuner_service.h"
#include "scheduler/workers_service.h"
#include "storage/sqlite_storage.h"

namespace rung {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(50);

Now ClockNow() {
  using std::chrono::duration_cast;
  const auto mono = std::chrono::steady_clock::now().time_since_epoch();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {.mono = MonoTime(duration_cast<std::chrono::milliseconds>(mono)),
          .wall = {duration_cast<std::chrono::microseconds>(wall).count()}};
}

/// A worker's silence of one lease is six missed heartbeats.
SessionTimes TimesOf(std::chrono::milliseconds lease) {
  return {.heartbeat = std::min(lease / 6, std::chrono::milliseconds(5'000)), .lease = lease};
}

WorkerSessionsConfig SessionsConfig(const ServiceConfig& config) {
  WorkerSessionsConfig sessions = config.sessions;
  sessions.times = TimesOf(config.scheduler.lease);
  return sessions;
}

absl::Status ParseListen(const ServiceConfig& config, std::vector<TcpEndpoint>& endpoints) {
  for (const std::string& text : config.listen) {
    if (text == "unix") continue;
    absl::StatusOr<TcpEndpoint> endpoint = ParseTcpEndpoint(text);
    if (!endpoint.ok()) return endpoint.status();
    if (!endpoint->loopback && !config.insecure_network) {
      return absl::FailedPreconditionError(
          fmt::format("--listen {}: beyond loopback TLS is needed, which comes with a later "
                      "version; --insecure-network allows it unencrypted, for isolated networks",
                      text));
    }
    endpoints.push_back(*std::move(endpoint));
  }
  return absl::OkStatus();
}

/// gRPC's own settings (ARCHITECTURE.md §6 Network): a cut connection is found within seconds.
void Configure(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // else a port in use would be shared
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 3'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 500);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

}  // namespace

/// In the order of construction; what stands below uses what stands above.
struct Service::Parts {
  Parts(ServiceHome service_home, const ServiceConfig& service_config, std::string login,
        std::vector<Token> tokens, std::unique_ptr<SqliteStorage> opened,
        std::unique_ptr<DatabaseReader> opened_reader)
      : home(std::move(service_home)),
        config(service_config),
        callers(std::move(login), std::move(tokens)),
        storage(std::move(opened)),
        reader(std::move(opened_reader)),
        outbox(replies),
        server(config.server, config.scheduler, *storage, outbox, ClockNow),
        pool(config.pool),
        sessions(SessionsConfig(config), server, ClockNow),
        watches(config.watches, *reader, pool, ClockNow),
        logs(config.logs, *reader, pool, sessions, ClockNow),
        reports(config.reports, server, replies),
        tuner({.callers = callers,
               .server = server,
               .replies = replies,
               .reader = *reader,
               .pool = pool,
               .watches = watches,
               .logs = logs,
               .reports = reports,
               .clock = ClockNow,
               .info = info}),
        workers(callers, sessions, logs) {
    outbox.Attach(sessions, watches);
  }

  void EndStreams(const absl::Status& status) {
    sessions.EndAll(status);
    watches.EndAll(status);
    logs.EndAll(status);
    reports.EndAll(status);
  }

  absl::Status Listen(const std::vector<TcpEndpoint>& endpoints);

  const ServiceHome home;
  const ServiceConfig config;
  const CallerCheck callers;
  const std::unique_ptr<SqliteStorage> storage;
  const std::unique_ptr<DatabaseReader> reader;
  ReplyTable replies;
  MessageOutbox outbox;
  Server server;
  ReadPool pool;
  WorkerSessions sessions;
  ExperimentWatches watches;
  LogRelay logs;
  ReportStreams reports;
  v1::GetServerInfoResponse info;  ///< complete before the first call
  TunerService tuner;
  WorkersService workers;
  std::filesystem::path socket;
  std::vector<std::string> addresses;
  std::unique_ptr<grpc::Server> grpc_server;
  std::optional<Ticker> ticker;
};

absl::Status Service::Parts::Listen(const std::vector<TcpEndpoint>& endpoints) {
  grpc::ServerBuilder builder;
  Configure(builder);
  builder.RegisterService(&tuner);
  builder.RegisterService(&workers);
  addresses.push_back("unix:" + socket.string());
  int unix_port = 0;
  std::vector<int> ports(endpoints.size(), 0);
  builder.AddListeningPort(addresses[0], grpc::InsecureServerCredentials(), &unix_port);
  for (size_t i = 0; i < endpoints.size(); ++i) {
    builder.AddListeningPort(endpoints[i].address, grpc::InsecureServerCredentials(), &ports[i]);
  }
  const mode_t mask = umask(0077);  // nobody else may connect to the socket
  grpc_server = builder.BuildAndStart();
  umask(mask);
  if (unix_port == 0) {
    return absl::UnavailableError(fmt::format("cannot listen on {}", addresses[0]));
  }
  for (size_t i = 0; i < endpoints.size(); ++i) {
    if (ports[i] == 0) {
      return absl::UnavailableError(
          fmt::format("cannot listen on {}: the address is in use or not this machine's; choose "
                      "another port with --listen",
                      endpoints[i].address));
    }
    const std::string& address = endpoints[i].address;
    addresses.push_back(fmt::format("{}:{}", address.substr(0, address.rfind(':')), ports[i]));
  }
  if (grpc_server == nullptr) return absl::InternalError("gRPC did not start");
  return absl::OkStatus();
}

Service::Service(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

absl::StatusOr<std::unique_ptr<Service>> Service::Start(const ServiceHome& home,
                                                        const ServiceConfig& config) {
  std::vector<TcpEndpoint> endpoints;
  RUNG_RETURN_IF_ERROR(ParseListen(config, endpoints));
  const std::filesystem::path database =
      config.database.empty() ? home.database() : std::filesystem::absolute(config.database);
  RUNG_RETURN_IF_ERROR(CheckPathIsUtf8(database.native()));
  absl::StatusOr<std::unique_ptr<SqliteStorage>> storage = SqliteStorage::Open(database);
  if (!storage.ok()) return storage.status();
  absl::StatusOr<std::unique_ptr<DatabaseReader>> reader = DatabaseReader::Open(database);
  if (!reader.ok()) return reader.status();
  const std::string login = LoginName();
  absl::StatusOr<std::vector<Token>> tokens = home.Tokens(login);
  if (!tokens.ok()) return tokens.status();
  const absl::StatusOr<std::filesystem::path> socket = home.SocketPath();
  if (!socket.ok()) return socket.status();
  RUNG_RETURN_IF_ERROR(CheckSocketIsFree(*socket));

  auto parts = std::make_unique<Parts>(home, config, login, *std::move(tokens), *std::move(storage),
                                       *std::move(reader));
  parts->socket = *socket;
  RUNG_RETURN_IF_ERROR(parts->server.Restore());
  parts->info.set_version(RUNG_VERSION);
  parts->info.set_pid(getpid());
  parts->info.set_database(database.string());
  RUNG_RETURN_IF_ERROR(parts->Listen(endpoints));
  for (const std::string& address : parts->addresses) parts->info.add_addresses(address);
  for (const TcpEndpoint& endpoint : endpoints) {
    if (endpoint.loopback) continue;
    spdlog::warn("{} is reachable from the network unencrypted (--insecure-network)",
                 endpoint.address);
  }
  parts->ticker.emplace(kPollInterval, [&all = *parts] {
    all.sessions.Poll();
    all.watches.Poll();
    all.logs.Poll();
  });
  RUNG_RETURN_IF_ERROR(home.WriteRecord({.pid = getpid(),
                                         .addresses = parts->addresses,
                                         .database = database.string(),
                                         .version = RUNG_VERSION,
                                         .started_us = ClockNow().wall.us}));
  return std::unique_ptr<Service>(new Service(std::move(parts)));
}

Service::~Service() {
  const absl::Status gone = absl::UnavailableError("the scheduler is stopping");
  parts_->EndStreams(gone);
  parts_->grpc_server->Shutdown(std::chrono::system_clock::now() + parts_->config.stop_timeout);
  parts_->home.RemoveRecord();
  parts_->home.RemoveSocket(parts_->socket);
}

absl::Status Service::Run() { return parts_->server.Run(); }

void Service::Stop() {
  parts_->EndStreams(absl::UnavailableError("the scheduler is stopping; connect again"));
  parts_->grpc_server->Shutdown(std::chrono::system_clock::now() + parts_->config.stop_timeout);
  parts_->server.Stop();
}

const std::vector<std::string>& Service::addresses() const { return parts_->addresses; }

}  // namespace rung
