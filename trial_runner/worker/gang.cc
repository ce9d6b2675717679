#include "trial_runner/worker/gang.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <utility>

#include "core/ids.h"
#include "trial_runner/launch/command_line.h"
#include "trial_runner/launch/environment.h"
#include "trial_runner/worker/rank_process.h"

namespace rung::worker {
namespace {

StartFailure MachineFailure(const absl::Status& status) {
  return {.message = std::string(status.message())};
}

}  // namespace

/// A rank with its socket, and the work on its lines that is not done yet.
struct Gang::Rank {
  std::unique_ptr<TrialSocket> socket;
  std::shared_ptr<RankProcess> process;
  int work = 0;
  std::function<void()> when_idle;  ///< set when no process is left
  std::optional<boost::asio::steady_timer> patience;
};

Gang::Gang(const GangEnvironment& environment, AttemptSpec spec, Emit emit, OnLine on_line)
    : environment_(environment),
      spec_(std::move(spec)),
      emit_(std::move(emit)),
      on_line_(std::move(on_line)),
      checkpoint_folder_(
          environment.home.CheckpointFolder(spec_.attempt, spec_.checkpoint_root).string()),
      disk_timer_(environment.io) {}

Gang::~Gang() {
  for (const auto& rank : ranks_) {
    if (rank->process) rank->process->Detach();
  }
  environment_.gpus.Release(spec_.attempt);
}

void Gang::Launch() {
  if (const absl::Status status = MakeCommand(); !status.ok()) {
    return FailLaunch({.cause = ExitCause::kFailed, .message = std::string(status.message())});
  }
  preparing_ = true;
  const std::weak_ptr<bool> alive = alive_;
  const GangFiles files{.program = command_.front(),
                        .working_dir = spec_.working_dir,
                        .search_path = std::string(ValueOf(EnvironmentOf(0), "PATH")),
                        .resume_from = spec_.resume_from,
                        .checkpoint_folder = checkpoint_folder_,
                        .log_folder = environment_.home.LogFolder(spec_.attempt)};
  const bool queued = environment_.disk.Run(
      fmt::format("launch {} {}", spec_.checkpoint_root, spec_.working_dir), [this, alive, files] {
        return [this, alive, failure = PrepareFiles(files)] {
          if (alive.expired() || !preparing_) return;
          if (failure) return FailLaunch(*failure);
          OnFilesPrepared();
        };
      });
  if (!queued) return FailLaunch({.message = "too many launches wait for the disk"});
  disk_timer_.expires_after(environment_.disk_wait);
  disk_timer_.async_wait([this, alive](boost::system::error_code error) {
    if (error || alive.expired() || !preparing_) return;
    FailLaunch({.message = fmt::format("the disk of '{}' or '{}' has not answered for {} s",
                                       spec_.working_dir, checkpoint_folder_,
                                       environment_.disk_wait.count() / 1'000)});
  });
}

void Gang::OnFilesPrepared() {
  if (const absl::Status status = TakeResources(); !status.ok()) {
    return FailLaunch(MachineFailure(status));
  }
  preparing_ = false;
  disk_timer_.cancel();
  StartRanks();
}

void Gang::StartRanks() {
  const std::filesystem::path logs = environment_.home.LogFolder(spec_.attempt);
  port_->ReleaseBind();
  for (int32_t index = 0; index < spec_.processes; ++index) {
    Rank& rank = *ranks_[static_cast<size_t>(index)];
    rank.process = std::make_shared<RankProcess>(
        environment_.io, spec_.attempt, index, emit_,
        [this, index](std::function<void()> then) { WhenDrained(index, std::move(then)); });
    const absl::Status status =
        rank.process->Start({.shim_path = environment_.shim_path,
                             .command = command_,
                             .working_dir = spec_.working_dir,
                             .environment = EnvironmentOf(index),
                             .stdout_path = logs / WorkerHome::StdoutName(index),
                             .stderr_path = logs / WorkerHome::StderrName(index),
                             .lock_fd = environment_.home.ranks_lock_fd(),
                             .descriptors_max = environment_.descriptors_max});
    if (!status.ok()) {
      const bool too_long = absl::IsInvalidArgument(status);
      emit_(RankCouldNotStart{spec_.attempt, index,
                              too_long ? ExitCause::kFailed : ExitCause::kCouldNotStart,
                              std::string(status.message())});
    }
  }
}

void Gang::FailLaunch(StartFailure failure) {
  preparing_ = false;
  disk_timer_.cancel();
  ranks_.clear();
  emit_(LaunchFailed{spec_.attempt, failure.cause, std::move(failure.message)});
}

bool Gang::EndLaunch() {
  if (!preparing_) return false;
  FailLaunch({.message = "it was ended before it was started"});
  return true;
}

void Gang::Terminate(int32_t rank) {
  if (EndLaunch()) return;
  if (RankProcess* process = ProcessOf(rank)) process->Terminate();
}

void Gang::Kill(int32_t rank) {
  if (EndLaunch()) return;
  if (RankProcess* process = ProcessOf(rank)) process->Kill();
}

RankProcess* Gang::ProcessOf(int32_t rank) const {
  const auto index = static_cast<size_t>(rank);
  return index < ranks_.size() ? ranks_[index]->process.get() : nullptr;
}

void Gang::BeginWork(int32_t rank) { ++ranks_.at(static_cast<size_t>(rank))->work; }

void Gang::EndWork(int32_t index) {
  Rank& rank = *ranks_.at(static_cast<size_t>(index));
  if (--rank.work == 0 && rank.when_idle) std::exchange(rank.when_idle, nullptr)();
}

absl::Status Gang::MakeCommand() {
  const absl::StatusOr<Configuration> configuration = ParseConfiguration(spec_.params_json);
  if (!configuration.ok()) return configuration.status();
  absl::StatusOr<std::vector<std::string>> command = ExpandCommand(spec_.command, *configuration);
  if (!command.ok()) return command.status();
  command_ = *std::move(command);
  return absl::OkStatus();
}

absl::Status Gang::TakeResources() {
  const int32_t gpus = spec_.per_process.gpus * spec_.processes;
  std::optional<std::vector<std::string>> uuids = environment_.gpus.Take(spec_.attempt, gpus);
  if (!uuids) {
    return absl::ResourceExhaustedError(fmt::format("fewer GPUs than {} are free here", gpus));
  }
  gpu_uuids_ = *std::move(uuids);
  absl::StatusOr<PortLease> port = environment_.ports.Lease();
  if (!port.ok()) return port.status();
  port_ = *std::move(port);
  return OpenSockets();
}

absl::Status Gang::OpenSockets() {
  for (int32_t index = 0; index < spec_.processes; ++index) {
    absl::StatusOr<std::unique_ptr<TrialSocket>> socket = TrialSocket::Open(
        environment_.io, environment_.home.SocketPath(spec_.attempt, index), environment_.requests,
        [this, index](RequestId request, std::string_view line) {
          on_line_(index, request, line);
        });
    if (!socket.ok()) return socket.status();
    ranks_.push_back(std::make_unique<Rank>());
    ranks_.back()->socket = *std::move(socket);
  }
  return absl::OkStatus();
}

std::vector<std::string> Gang::EnvironmentOf(int32_t rank) const {
  return BuildEnvironment({.attempt = spec_.attempt,
                           .experiment_name = spec_.experiment_name,
                           .params_json = spec_.params_json,
                           .socket_path = environment_.home.SocketPath(spec_.attempt, rank),
                           .checkpoint_dir = checkpoint_folder_,
                           .resume_from = spec_.resume_from,
                           .resume_step = spec_.resume_step,
                           .max_step = spec_.max_step,
                           .seed = spec_.seed,
                           .rank = rank,
                           .world_size = spec_.processes,
                           .master_port = port_ ? port_->port() : uint16_t{0},
                           .gpu_uuids = gpu_uuids_,
                           .milli_cpus = spec_.per_process.milli_cpus,
                           .user = spec_.env},
                          environment_.outer);
}

void Gang::WhenDrained(int32_t index, std::function<void()> then) {
  Rank& rank = *ranks_[static_cast<size_t>(index)];
  rank.socket->DrainAndClose();
  if (rank.work == 0) return then();
  rank.when_idle = std::move(then);
  rank.patience.emplace(environment_.io, environment_.disk_wait);
  rank.patience->async_wait([this, index,
                             alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    Rank& waiting = *ranks_[static_cast<size_t>(index)];
    if (!waiting.when_idle) return;
    spdlog::warn("{}: a checkpoint of rank {} is not on the disk {} s after its end: it is left",
                 ToString(spec_.attempt), index, environment_.disk_wait.count() / 1'000);
    std::exchange(waiting.when_idle, nullptr)();
  });
}

}  // namespace rung::worker
