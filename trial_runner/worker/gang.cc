#include "trial_runner/worker/gang.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <boost/asio/post.hpp>
#include <filesystem>
#include <utility>

#include "core/check.h"
#include "trial_runner/launch/command_line.h"
#include "trial_runner/launch/environment.h"
#include "trial_runner/launch/program.h"
#include "trial_runner/worker/checkpoint_manifest.h"
#include "trial_runner/worker/rank_process.h"

namespace rung::worker {
namespace {

absl::Status MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
}

}  // namespace

/// A rank with its socket, and the work on its lines that is not done yet.
struct Gang::Rank {
  std::unique_ptr<TrialSocket> socket;
  std::shared_ptr<RankProcess> process;
  int work = 0;
  std::function<void()> when_idle;  ///< set when no process is left
};

Gang::Gang(const GangEnvironment& environment, AttemptSpec spec, Emit emit, OnLine on_line)
    : environment_(environment),
      spec_(std::move(spec)),
      emit_(std::move(emit)),
      on_line_(std::move(on_line)),
      checkpoint_folder_(
          environment.home.CheckpointFolder(spec_.attempt, spec_.checkpoint_root).string()) {}

Gang::~Gang() {
  for (const auto& rank : ranks_) {
    if (rank->process) rank->process->Detach();
  }
  environment_.gpus.Release(spec_.attempt);
}

void Gang::Launch() {
  bool refused = false;
  if (const absl::Status status = Prepare(refused); !status.ok()) {
    ranks_.clear();
    emit_(LaunchFailed{spec_.attempt, refused, std::string(status.message())});
    return;
  }
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
      emit_(RankCouldNotStart{spec_.attempt, index, std::string(status.message())});
    }
  }
}

void Gang::Terminate(int32_t rank) {
  if (RankProcess* process = ProcessOf(rank)) process->Terminate();
}

void Gang::Kill(int32_t rank) {
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

absl::Status Gang::Prepare(bool& refused) {
  const absl::StatusOr<Configuration> configuration = ParseConfiguration(spec_.params_json);
  if (!configuration.ok()) return configuration.status();
  absl::StatusOr<std::vector<std::string>> command = ExpandCommand(spec_.command, *configuration);
  if (!command.ok()) return command.status();
  command_ = *std::move(command);

  const std::vector<std::string> environment = EnvironmentOf(0);
  const absl::StatusOr<std::string> program =
      FindProgram(command_.front(), spec_.working_dir, ValueOf(environment, "PATH"));
  refused = !program.ok();
  if (refused) return program.status();
  if (!spec_.resume_from.empty()) RUNG_RETURN_IF_ERROR(VerifyCheckpoint(spec_.resume_from));
  RUNG_RETURN_IF_ERROR(MakeFolder(checkpoint_folder_));
  RUNG_RETURN_IF_ERROR(MakeFolder(environment_.home.LogFolder(spec_.attempt)));

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
  if (rank.work == 0) {
    then();
  } else {
    rank.when_idle = std::move(then);
  }
}

}  // namespace rung::worker
