#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <functional>
#include <thread>
#include <utility>

namespace rung {

/// A thread that calls `tick` every `interval`, for streams that wait for a time rather than for a
/// message.
class Ticker {
 public:
  Ticker(absl::Duration interval, std::function<void()> tick)
      : thread_([this, interval, tick = std::move(tick)] { Run(interval, tick); }) {}

  ~Ticker() {
    {
      const absl::MutexLock lock(&mutex_);
      ending_ = true;
    }
    thread_.join();
  }

 private:
  void Run(absl::Duration interval, const std::function<void()>& tick) {
    while (true) {
      {
        const absl::MutexLock lock(&mutex_);
        if (mutex_.AwaitWithTimeout(absl::Condition(&ending_), interval)) return;
      }
      tick();
    }
  }

  absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  ///< last: it uses what stands above
};

}  // namespace rung
