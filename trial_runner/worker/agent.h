#pragma once

#include <absl/status/status.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.h"
#include "trial_runner/launch/gpu_slots.h"
#include "trial_runner/launch/inventory.h"
#include "trial_runner/launch/port_lease.h"
#include "trial_runner/worker/disk_work.h"
#include "trial_runner/worker/gang.h"
#include "trial_runner/worker/limits.h"
#include "trial_runner/worker/log_upload.h"
#include "trial_runner/worker/proto_codec.h"
#include "trial_runner/worker/request_table.h"
#include "trial_runner/worker/runner.h"
#include "trial_runner/worker/scheduler_session.h"
#include "trial_runner/worker/server_address.h"
#include "trial_runner/worker/worker_home.h"

/// The daemon around the runner: one io_context on one thread. Events come in from the session,
/// the sockets, the shims and the clock; effects go out.
namespace rung::worker {

struct AgentConfig {
  std::string name;
  ServerAddress server;
  TokenFile token{};
  std::string shim_path;
  std::vector<std::string> outer_environment{};
  int64_t rank_descriptors_max = 0;  ///< soft limit of open descriptors; 0: this process's own
  Limits limits{};
};

class Agent {
 public:
  /// `home` outlives the agent.
  Agent(AgentConfig config, const WorkerHome& home, Inventory inventory);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// THE loop; returns after Shutdown, when no process of any trial is left and the exits that came
  /// before are told (or nobody has heard them for Limits::exit_wait): OK, or
  /// UNAUTHENTICATED when the scheduler does not let this worker in. A worker that holds no trial
  /// ends at once then; one that does goes on trying, as in an outage, for
  /// Limits::refusal_patience.
  absl::Status Run();
  /// Ends trials (SIGTERM, a bounded grace, SIGKILL) and then Run. Any thread.
  void Shutdown();

 private:
  /// Queues an event; events are stepped in the order of their posting.
  void Post(Event event);
  void Apply(const Event& event);
  void ArmTimer();
  void EndIfShutDown();

  void Execute(const LaunchGang& effect);
  void Execute(const TerminateRank& effect);
  void Execute(const KillRank& effect);
  void Execute(const CloseAttempt& effect);
  void Execute(const AnswerDecision& effect);
  void Execute(const AnswerStored& effect);
  void Execute(const AnswerError& effect);
  void Execute(const LogWarning& effect);
  void Execute(const SayHello& effect);
  void Execute(const TellExited& effect);
  template <typename Tell>
  void Execute(const Tell& effect) {
    session_->Send(stream_, ToProto(effect));
  }

  void OnLine(AttemptId attempt, int32_t rank, RequestId request, std::string_view line);
  void StoreCheckpoint(AttemptId attempt, int32_t rank, RequestId request, Steps step,
                       const std::string& path);
  void OnStreamOpen(uint64_t stream);
  void OnStreamMessage(uint64_t stream, const v1::SchedulerMessage& message);
  void OnStreamLost(uint64_t stream, const SessionEnd& end);
  /// The scheduler does not let this worker in: whether it is to end, by the rule of Run.
  bool EndsAsRefused(const std::string& reason);
  void OnFetchLog(const v1::FetchLog& fetch);
  void SendHeartbeats();
  /// Once, when the scheduler has not been reached soon after the start.
  void WarnOfSilence();

  AgentConfig config_;
  const WorkerHome& home_;
  Inventory inventory_;
  WorkerInfo info_;

  RequestTable requests_;  // before io_: handlers destroyed with it forget their requests
  boost::asio::io_context io_{1};
  boost::asio::signal_set signals_;
  boost::asio::steady_timer deadline_timer_;
  boost::asio::steady_timer heartbeat_timer_;
  boost::asio::steady_timer silence_timer_;
  DiskWork disk_;  ///< prepares launches, and brings checkpoints to the disk

  PortPool ports_;
  GpuSlots gpus_;
  GangEnvironment gang_environment_;
  Runner runner_;
  std::map<AttemptId, std::unique_ptr<Gang>> gangs_;

  std::shared_ptr<grpc::Channel> channel_;  ///< of the session and the log uploads
  std::unique_ptr<SchedulerSession> session_;
  LogUploads uploads_;
  uint64_t stream_ = 0;  ///< the open stream to the scheduler; 0: none
  SessionTimes times_;
  std::string lost_reason_;
  std::optional<MonoTime> refused_since_;  ///< not let in since
  absl::Status ended_;                     ///< what Run returns
  bool shutting_down_ = false;
};

}  // namespace rung::worker
