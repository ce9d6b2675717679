#include "scheduler/event_queue.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace rung {

bool EventQueue::Post(Event event) { return Add(std::move(event), events_max_); }

bool EventQueue::PostLast(Event event) {
  return Add(std::move(event), std::numeric_limits<size_t>::max());
}

bool EventQueue::Add(Event event, size_t limit) {
  const absl::MutexLock lock(&mutex_);
  if (closed_ || events_.size() >= limit) return false;
  events_.push_back(std::move(event));
  return true;
}

std::vector<Event> EventQueue::Take(size_t count, absl::Duration patience) {
  const absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(
                              +[](EventQueue* queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue->mutex_) {
                                return !queue->events_.empty() || queue->closed_;
                              },
                              this),
                          patience);
  const auto end = events_.begin() + static_cast<std::ptrdiff_t>(std::min(count, events_.size()));
  std::vector<Event> taken(std::make_move_iterator(events_.begin()), std::make_move_iterator(end));
  events_.erase(events_.begin(), end);
  return taken;
}

void EventQueue::Close() {
  const absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool EventQueue::closed() const {
  const absl::MutexLock lock(&mutex_);
  return closed_;
}

}  // namespace rung
