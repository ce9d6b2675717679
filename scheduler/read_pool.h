#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace rung {

struct ReadPoolConfig {
  size_t threads = 8;
  size_t reads_waiting_max = 1'024;  ///< more are refused with UNAVAILABLE
};

/// Threads that wait for the database, so that neither the loop nor gRPC's threads do.
class ReadPool {
 public:
  explicit ReadPool(const ReadPoolConfig& config);
  /// Runs what was accepted, then ends.
  ~ReadPool();

  /// Errors: UNAVAILABLE; `read` is not called then.
  absl::Status Post(std::function<void()> read);

 private:
  void Run();

  const size_t reads_waiting_max_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace rung
