#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <functional>

#include "scheduler/output.h"

/// The callers that wait for an answer of the loop.
namespace rung {

class ReplyTable {
 public:
  /// Called once, on the thread that answers. Must not wait.
  using Callback = std::function<void(absl::StatusOr<ReplyValue>)>;

  ReplyToken Add(Callback callback);
  /// An unknown token is a bug of the scheduler (answered twice) and is ignored.
  void Answer(ReplyToken token, absl::StatusOr<ReplyValue> value);

 private:
  absl::Mutex mutex_;
  uint64_t last_token_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<uint64_t, Callback> callbacks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rung
