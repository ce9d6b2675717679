#include "scheduler/read_pool.h"

#include <fmt/format.h>

#include <utility>

namespace rung {

ReadPool::ReadPool(const ReadPoolConfig& config) : reads_waiting_max_(config.reads_waiting_max) {
  for (size_t i = 0; i < config.threads; ++i) threads_.emplace_back([this] { Run(); });
}

ReadPool::~ReadPool() {
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status ReadPool::Post(std::function<void()> read) {
  const absl::MutexLock lock(&mutex_);
  if (waiting_.size() >= reads_waiting_max_) {
    return absl::UnavailableError(fmt::format("{} reads wait already; try again", waiting_.size()));
  }
  waiting_.push_back(std::move(read));
  return absl::OkStatus();
}

void ReadPool::Run() {
  while (true) {
    std::function<void()> read;
    {
      const absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(
          +[](ReadPool* pool) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pool->mutex_) {
            return pool->ending_ || !pool->waiting_.empty();
          },
          this));
      if (waiting_.empty()) return;
      read = std::move(waiting_.front());
      waiting_.pop_front();
    }
    read();
  }
}

}  // namespace rung
