#pragma once

#include <absl/status/status.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/launch/gpu_slots.h"
#include "trial_runner/launch/port_lease.h"
#include "trial_runner/worker/disk_work.h"
#include "trial_runner/worker/event.h"
#include "trial_runner/worker/gang_files.h"
#include "trial_runner/worker/request_table.h"
#include "trial_runner/worker/trial_socket.h"
#include "trial_runner/worker/worker_home.h"

/// The processes of one attempt and what they hold: shims, sockets, logs, GPUs and a port.
namespace rung::worker {

class RankProcess;

/// What gangs share. All of it outlives them.
struct GangEnvironment {
  boost::asio::io_context& io;
  const WorkerHome& home;
  RequestTable& requests;
  DiskWork& disk;
  PortPool& ports;
  GpuSlots& gpus;
  std::string shim_path;
  std::vector<std::string> outer;               ///< the daemon's own environment
  int64_t descriptors_max = 0;                  ///< of a rank, as ShimLaunch has it
  std::chrono::milliseconds disk_wait{60'000};  ///< Limits::disk_wait
};

class Gang {
 public:
  /// Events are emitted from the io_context, never from within a call of this class.
  using Emit = std::function<void(Event)>;
  /// A line of a rank's socket.
  using OnLine = std::function<void(int32_t rank, RequestId request, std::string_view line)>;

  Gang(const GangEnvironment& environment, AttemptSpec spec, Emit emit, OnLine on_line);
  /// Every process must be gone, or the daemon be about to end: shims then end their ranks.
  ~Gang();
  Gang(const Gang&) = delete;
  Gang& operator=(const Gang&) = delete;

  /// Prepares the files and starts every rank, or emits LaunchFailed and starts none: also where
  /// the disk does not answer within disk_wait.
  void Launch();
  /// SIGTERM to the rank's leader. While the files are being prepared, the launch fails. Nothing
  /// when no process of the rank was started, as before and after a launch that failed.
  void Terminate(int32_t rank);
  /// SIGKILL to everything of the rank; as Terminate.
  void Kill(int32_t rank);

  /// Work on a rank's lines that goes on elsewhere: its RankGone waits for it, at most disk_wait.
  void BeginWork(int32_t rank);
  void EndWork(int32_t rank);

  const std::string& checkpoint_folder() const { return checkpoint_folder_; }
  /// Under which the folder is; empty: the worker's own.
  const std::string& checkpoint_root() const { return spec_.checkpoint_root; }

 private:
  struct Rank;

  absl::Status MakeCommand();
  /// The files are there: starts, unless this machine lacks what it needs.
  void OnFilesPrepared();
  absl::Status TakeResources();
  absl::Status OpenSockets();
  void StartRanks();
  void FailLaunch(StartFailure failure);
  /// True when there was a launch to be ended.
  bool EndLaunch();
  std::vector<std::string> EnvironmentOf(int32_t rank) const;
  /// Null when the rank has no process.
  RankProcess* ProcessOf(int32_t rank) const;
  /// No process of the rank is left: reads what they wrote, and goes on when it has been worked on.
  void WhenDrained(int32_t rank, std::function<void()> then);

  const GangEnvironment& environment_;
  AttemptSpec spec_;
  Emit emit_;
  OnLine on_line_;
  std::string checkpoint_folder_;
  std::vector<std::string> command_;
  std::vector<std::string> gpu_uuids_;
  std::optional<PortLease> port_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  bool preparing_ = false;
  boost::asio::steady_timer disk_timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // tells handlers when it is gone
};

}  // namespace rung::worker
