#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rung/v1/workers.grpc.pb.h"
#include "trial_runner/worker/token_file.h"

/// Log files of ranks on their way to readers, each on a stream and a thread of its own. The
/// methods are called from one thread.
namespace rung::worker {

struct LogSource {
  std::vector<std::filesystem::path> files;  ///< sent one after the other, then what they grow by
  bool running = false;                      ///< a file that is missing may be made yet
  bool follow = false;                       ///< until EndOfAttempt; of a running attempt
};

class LogUploads {
 public:
  static constexpr size_t kUploadsMax = 16;

  LogUploads(std::shared_ptr<grpc::Channel> channel, TokenFile token);
  /// Cancels all.
  ~LogUploads();

  /// One more than kUploadsMax at a time, or no file of an attempt that is over, is answered with
  /// an error; still more get no answer, and the scheduler waits for one only so long.
  void Start(uint64_t fetch_id, const std::string& attempt, LogSource source);
  void Cancel(uint64_t fetch_id);
  /// The attempt's files grow no more: its followers send the rest and end.
  void EndOfAttempt(const std::string& attempt);

 private:
  struct Upload;

  void Run(Upload& upload);
  void JoinFinished();

  std::unique_ptr<v1::Workers::Stub> stub_;
  TokenFile token_;
  std::map<uint64_t, std::unique_ptr<Upload>> uploads_;
};

}  // namespace rung::worker
