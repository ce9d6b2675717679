#pragma once

#include <grpcpp/channel.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "rung/v1/workers.grpc.pb.h"
#include "trial_runner/worker/token_file.h"

/// The stream to the scheduler, on threads of its own; reconnects for ever.
namespace rung::worker {

struct SessionConfig {
  TokenFile token;  ///< sent as `authorization: Bearer`
  std::chrono::milliseconds reconnect_wait{1'000};
  /// A scheduler that takes no more messages than this is cut off; what matters is sent again on
  /// the next stream. More than the reports in flight (Limits::in_flight_max) of 1,024 ranks, which
  /// a new stream is told at once.
  size_t outgoing_messages_max = 200'000;
};

/// gRPC's defaults would need 13 s to see that an 8 s cut is over: keepalive and a short back-off.
/// Nor does it go by the environment's http_proxy, which is the way to the web.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& target);

/// `authorization: Bearer TOKEN`, unless it is empty.
void AddToken(const std::string& token, grpc::ClientContext& context);

/// Why a stream ended.
struct SessionEnd {
  std::string reason;
  /// The scheduler does not let this caller in (UNAUTHENTICATED, PERMISSION_DENIED), which trying
  /// again does not change: unlike a scheduler that is down, or busy.
  bool refused = false;
};

class SchedulerSession {
 public:
  /// Called on the session's thread. `stream` numbers the streams from 1.
  struct Callbacks {
    std::function<void(uint64_t stream)> on_open;
    std::function<void(uint64_t stream, v1::SchedulerMessage message)> on_message;
    std::function<void(uint64_t stream, SessionEnd end)> on_lost;
  };

  SchedulerSession(std::shared_ptr<grpc::Channel> channel, SessionConfig config,
                   Callbacks callbacks);
  /// Ends the stream and the threads; no callback comes after it.
  ~SchedulerSession();

  void Start();
  /// Queues a message for the stream of that number; dropped when it is no more.
  void Send(uint64_t stream, v1::WorkerMessage message);
  /// Ends the stream behind what is queued, and opens no other. Blocks until the scheduler has read
  /// it all and ended the stream too, the stream is gone, or `timeout`.
  void Finish(std::chrono::milliseconds timeout);

 private:
  using Stream = grpc::ClientReaderWriter<v1::WorkerMessage, v1::SchedulerMessage>;

  void Run();
  /// One stream from its opening to its end.
  SessionEnd RunStream();
  void WriteQueued(Stream& stream, grpc::ClientContext& context);
  /// False when the session is to end.
  bool WaitToReconnect();
  bool Ending();

  std::shared_ptr<grpc::Channel> channel_;
  SessionConfig config_;
  Callbacks callbacks_;
  std::unique_ptr<v1::Workers::Stub> stub_;
  std::thread thread_;

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  bool ending_ = false;
  bool open_ = false;
  uint64_t stream_ = 0;
  grpc::ClientContext* context_ = nullptr;  ///< of the open stream
  std::deque<v1::WorkerMessage> outgoing_;
};

}  // namespace rung::worker
