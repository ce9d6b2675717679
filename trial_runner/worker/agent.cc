#include "trial_runner/worker/agent.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <random>
#include <utility>
#include <variant>

#include "proto/utf8.h"
#include "trial_runner/worker/checkpoint_manifest.h"
#include "trial_runner/worker/trial_message.h"

namespace rung::worker {
namespace {

constexpr std::chrono::milliseconds kGoodbyeTimeout{500};
constexpr std::chrono::milliseconds kSilenceWarning{3'000};

MonoTime Now() {
  return MonoTime(std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

/// Different at each start, so that the scheduler can tell a restart from a reconnect.
std::string NewIncarnation() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

WorkerInfo InfoOf(const AgentConfig& config, const Inventory& inventory) {
  WorkerInfo info{.name = config.name,
                  .incarnation = NewIncarnation(),
                  .host = LocalAddressTowards(config.server),
                  .total = inventory.total,
                  .gpu_names = {}};
  for (const Gpu& gpu : inventory.gpus) info.gpu_names.push_back(ValidUtf8(gpu.name));
  return info;
}

}  // namespace

Agent::Agent(AgentConfig config, const WorkerHome& home, Inventory inventory)
    : config_(std::move(config)),
      home_(home),
      inventory_(std::move(inventory)),
      info_(InfoOf(config_, inventory_)),
      signals_(io_),
      deadline_timer_(io_),
      heartbeat_timer_(io_),
      silence_timer_(io_),
      disk_(io_),
      ports_(static_cast<uint32_t>(getpid()) * 64),
      gpus_(inventory_.gpus),
      gang_environment_{.io = io_,
                        .home = home_,
                        .requests = requests_,
                        .disk = disk_,
                        .ports = ports_,
                        .gpus = gpus_,
                        .shim_path = config_.shim_path,
                        .outer = config_.outer_environment,
                        .descriptors_max = config_.rank_descriptors_max,
                        .disk_wait = config_.limits.disk_wait},
      runner_(inventory_.total, config_.limits),
      channel_(MakeChannel(config_.server.target)),
      uploads_(channel_, config_.token) {
  session_ = std::make_unique<SchedulerSession>(
      channel_, SessionConfig{.token = config_.token},
      SchedulerSession::Callbacks{
          .on_open =
              [this](uint64_t stream) {
                boost::asio::post(io_, [this, stream] { OnStreamOpen(stream); });
              },
          .on_message =
              [this](uint64_t stream, v1::SchedulerMessage message) {
                boost::asio::post(io_, [this, stream, message = std::move(message)] {
                  OnStreamMessage(stream, message);
                });
              },
          .on_lost =
              [this](uint64_t stream, SessionEnd end) {
                boost::asio::post(
                    io_, [this, stream, end = std::move(end)] { OnStreamLost(stream, end); });
              }});
}

Agent::~Agent() {
  session_.reset();  // no callback after it
}

absl::Status Agent::Run() {
  signals_.add(SIGTERM);
  signals_.add(SIGINT);
  signals_.async_wait([this](boost::system::error_code error, int signal) {
    if (error) return;
    spdlog::info("signal {}: ending", signal);
    Shutdown();
  });
  session_->Start();
  SendHeartbeats();
  WarnOfSilence();
  const auto forever = boost::asio::make_work_guard(io_);
  io_.run();
  return ended_;
}

void Agent::Shutdown() {
  boost::asio::post(io_, [this] {
    if (std::exchange(shutting_down_, true)) return;
    Apply(ShutdownRequested{});
  });
}

void Agent::Post(Event event) {
  boost::asio::post(io_, [this, event = std::move(event)] { Apply(event); });
}

void Agent::Apply(const Event& event) {
  for (const Effect& effect : runner_.Step(event, Now())) {
    std::visit([this](const auto& e) { Execute(e); }, effect);
  }
  ArmTimer();
  EndIfShutDown();
}

void Agent::ArmTimer() {
  const std::optional<MonoTime> deadline = runner_.NextDeadline();
  if (!deadline) {
    deadline_timer_.cancel();
    return;
  }
  deadline_timer_.expires_at(std::chrono::steady_clock::time_point(deadline->time_since_epoch()));
  deadline_timer_.async_wait([this](boost::system::error_code error) {
    if (!error) Apply(Tick{});
  });
}

void Agent::EndIfShutDown() {
  if (!shutting_down_ || !runner_.MayEnd()) return;
  session_->Send(stream_, GoodbyeMessage());
  session_->Finish(kGoodbyeTimeout);
  io_.stop();
}

void Agent::Execute(const LaunchGang& effect) {
  const AttemptId id = effect.spec.attempt;
  spdlog::info("{}: starting {} process(es)", ToString(id), effect.spec.processes);
  auto gang = std::make_unique<Gang>(
      gang_environment_, effect.spec, [this](Event event) { Post(std::move(event)); },
      [this, id](int32_t rank, RequestId request, std::string_view line) {
        OnLine(id, rank, request, line);
      });
  Gang& launched = *gang;
  gangs_.insert_or_assign(id, std::move(gang));
  launched.Launch();
}

void Agent::Execute(const TerminateRank& effect) {
  if (const auto it = gangs_.find(effect.attempt); it != gangs_.end()) {
    it->second->Terminate(effect.rank);
  }
}

void Agent::Execute(const KillRank& effect) {
  spdlog::info("{}: SIGKILL to rank {}", ToString(effect.attempt), effect.rank);
  if (const auto it = gangs_.find(effect.attempt); it != gangs_.end()) {
    it->second->Kill(effect.rank);
  }
}

void Agent::Execute(const CloseAttempt& effect) {
  gangs_.erase(effect.attempt);
  uploads_.EndOfAttempt(ToString(effect.attempt));
}

void Agent::Execute(const AnswerDecision& effect) {
  requests_.Reply(effect.request, DecisionLine(effect.decision, effect.durable));
}

void Agent::Execute(const AnswerStored& effect) { requests_.Reply(effect.request, StoredLine()); }

void Agent::Execute(const AnswerError& effect) {
  requests_.Reply(effect.request, ErrorLine(effect.error));
}

void Agent::Execute(const LogWarning& effect) {
  spdlog::warn("{}: {}", ToString(effect.attempt), effect.text);
}

void Agent::Execute(const SayHello& effect) { session_->Send(stream_, ToProto(effect, info_)); }

void Agent::Execute(const TellExited& effect) {
  spdlog::info("{}: {}{}{}", ToString(effect.attempt), ToString(effect.cause),
               effect.message.empty() ? "" : ": ", effect.message);
  session_->Send(stream_, ToProto(effect));
}

void Agent::OnLine(AttemptId attempt, int32_t rank, RequestId request, std::string_view line) {
  TrialLine parsed = ParseTrialLine(line);
  if (auto* report = std::get_if<ReportLine>(&parsed)) {
    Post(RankReport{attempt, rank, request, report->step, std::move(report->metrics)});
  } else if (const auto* checkpoint = std::get_if<CheckpointLine>(&parsed)) {
    StoreCheckpoint(attempt, rank, request, checkpoint->step, checkpoint->path);
  } else {
    requests_.Reply(request, ErrorLine(std::get<BadLine>(parsed).error));
  }
}

void Agent::StoreCheckpoint(AttemptId attempt, int32_t rank, RequestId request, Steps step,
                            const std::string& path) {
  Gang& gang = *gangs_.at(attempt);
  const bool queued = disk_.Run(
      "checkpoints " + gang.checkpoint_root(),
      [this, attempt, rank, request, step, path, folder = gang.checkpoint_folder()] {
        return [this, attempt, rank, request, step, written = WriteManifest(folder, path, step)] {
          if (written.ok()) {
            Post(CheckpointWritten{attempt, request, step, written->path, written->bytes});
          } else {
            requests_.Reply(request, ErrorLine(std::string(written.status().message())));
          }
          if (const auto it = gangs_.find(attempt); it != gangs_.end()) it->second->EndWork(rank);
        };
      });
  if (!queued) return requests_.Reply(request, ErrorLine("too many checkpoints wait for the disk"));
  gang.BeginWork(rank);
}

void Agent::OnStreamOpen(uint64_t stream) {
  stream_ = stream;
  Apply(SchedulerConnected{});
}

void Agent::OnStreamMessage(uint64_t stream, const v1::SchedulerMessage& message) {
  if (stream != stream_) return;
  if (message.has_fetch_log()) {
    OnFetchLog(message.fetch_log());
    return;
  }
  if (message.has_welcome()) {
    times_ = TimesFromProto(message.welcome());
    lost_reason_.clear();
    refused_since_.reset();
    spdlog::info("connected to {} as '{}'", config_.server.target, config_.name);
    SendHeartbeats();
  }
  const absl::StatusOr<std::optional<Event>> event = EventFromProto(message);
  if (event.ok() && *event) {
    Apply(**event);
  } else if (message.has_start_attempt()) {
    // Its lease would be renewed for ever, were the scheduler not told. A worker of another version
    // may understand it.
    Execute(TellExited{.attempt = FromProto(message.start_attempt().attempt()),
                       .cause = ExitCause::kRefused,
                       .message = std::string(event.status().message())});
  } else {
    spdlog::warn("a message of the scheduler is ignored: {}", event.status().ToString());
  }
}

void Agent::OnStreamLost(uint64_t stream, const SessionEnd& end) {
  if (stream != stream_) return;
  stream_ = 0;
  Apply(SchedulerLost{});
  if (!end.refused) {
    refused_since_.reset();
  } else if (EndsAsRefused(end.reason)) {
    return Shutdown();
  }
  if (std::exchange(lost_reason_, end.reason) == end.reason) return;  // not once a second
  spdlog::warn("no session with {}: {}; trials go on, and it is tried again", config_.server.target,
               end.reason);
}

bool Agent::EndsAsRefused(const std::string& reason) {
  const MonoTime now = Now();
  if (!refused_since_) refused_since_ = now;
  // Whoever runs trials may be let in again, by a token that is put right on either side. In the
  // end they are for nothing: the scheduler has given them up long before.
  const bool patient = now - *refused_since_ < config_.limits.refusal_patience;
  if (shutting_down_ || (patient && !runner_.HoldsNothing())) return false;
  ended_ = absl::UnauthenticatedError(
      config_.token.path().empty()
          ? fmt::format("{} does not let this worker in: {}", config_.server.target, reason)
          : fmt::format("{} does not let this worker in with the token of '{}': {}",
                        config_.server.target, config_.token.path(), reason));
  return true;
}

void Agent::OnFetchLog(const v1::FetchLog& fetch) {
  if (fetch.cancel()) {
    uploads_.Cancel(fetch.fetch_id());
    return;
  }
  const AttemptId attempt = FromProto(fetch.attempt());
  const std::filesystem::path folder = home_.LogFolder(attempt);
  const bool running = gangs_.contains(attempt);
  uploads_.Start(fetch.fetch_id(), ToString(attempt),
                 {.files = {folder / WorkerHome::StdoutName(fetch.rank()),
                            folder / WorkerHome::StderrName(fetch.rank())},
                  .running = running,
                  .follow = fetch.follow() && running});
}

void Agent::SendHeartbeats() {
  if (stream_ != 0) session_->Send(stream_, HeartbeatMessage());
  heartbeat_timer_.expires_after(times_.heartbeat);
  heartbeat_timer_.async_wait([this](boost::system::error_code error) {
    if (!error) SendHeartbeats();
  });
}

void Agent::WarnOfSilence() {
  silence_timer_.expires_after(kSilenceWarning);
  silence_timer_.async_wait([this](boost::system::error_code error) {
    if (error || stream_ != 0 || !lost_reason_.empty()) return;
    spdlog::warn("nobody answers at {} yet; it is tried for ever", config_.server.target);
  });
}

}  // namespace rung::worker
