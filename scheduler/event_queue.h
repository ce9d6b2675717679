#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <cstddef>
#include <deque>
#include <vector>

#include "scheduler/event.h"

/// What waits for the loop. Any thread posts, the loop thread takes.
namespace rung {

class EventQueue {
 public:
  explicit EventQueue(size_t events_max) : events_max_(events_max) {}

  /// False, and nothing changes, when `events_max` events wait or the queue is closed.
  [[nodiscard]] bool Post(Event event);
  /// As Post, but goes past the limit: for events that come at most once a stream, so that the
  /// number of streams bounds them, and whose loss would leave the state wrong.
  [[nodiscard]] bool PostLast(Event event);

  /// The oldest events, at most `count`; waits up to `patience` for the first, less once closed.
  std::vector<Event> Take(size_t count, absl::Duration patience);

  /// Later posts fail; what waits can still be taken.
  void Close();
  bool closed() const;

 private:
  bool Add(Event event, size_t limit);

  const size_t events_max_;
  mutable absl::Mutex mutex_;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rung
