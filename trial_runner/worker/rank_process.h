#pragma once

#include <absl/status/status.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/streambuf.hpp>
#include <functional>
#include <memory>
#include <string>

#include "trial_runner/launch/shim_launch.h"
#include "trial_runner/worker/event.h"

/// One shim and its rank, from the daemon's side of the control connection.
namespace rung::worker {

/// The last `bytes_max` bytes of a file; empty when it cannot be read.
std::string FileTail(const std::string& path, size_t bytes_max);

class RankProcess : public std::enable_shared_from_this<RankProcess> {
 public:
  static constexpr size_t kStderrTailBytes = 64 * 1'024;

  /// Events are emitted from the io_context. `before_gone` runs when no process is left and calls
  /// its argument when RankGone may be emitted.
  using Emit = std::function<void(Event)>;
  using BeforeGone = std::function<void(std::function<void()> then)>;

  RankProcess(boost::asio::io_context& io, AttemptId attempt, int32_t rank, Emit emit,
              BeforeGone before_gone);
  ~RankProcess();
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  absl::Status Start(const ShimLaunch& launch);
  void Terminate() { Command("term\n"); }
  void Kill() { Command("kill\n"); }
  /// The owner is going away: nothing is emitted any more. A shim that is ending is still reaped.
  void Detach();

 private:
  void Read();
  void OnLine(const std::string& line);
  void OnEnd();
  void Command(const char* line);
  void EmitGone();

  boost::asio::local::stream_protocol::socket control_;
  AttemptId attempt_;
  int32_t rank_;
  Emit emit_;
  BeforeGone before_gone_;
  boost::asio::streambuf input_;
  std::string stderr_path_;
  std::string socket_path_;  ///< names the rank in its processes' environments
  pid_t shim_ = -1;
  bool could_not_start_ = false;
  bool exited_ = false;
  bool empty_ = false;  ///< the shim has said that no process is left
  bool failed_ = false;
};

}  // namespace rung::worker
