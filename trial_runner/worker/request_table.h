#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "trial_runner/worker/event.h"

/// Lines of trials that wait for their answers. One thread.
namespace rung::worker {

class RequestTable {
 public:
  using Answer = std::function<void(std::string line)>;

  /// `answer` is called at most once, unless it is forgotten before.
  RequestId Add(Answer answer) {
    const RequestId id{++last_};
    answers_.emplace(id, std::move(answer));
    return id;
  }
  void Forget(RequestId id) { answers_.erase(id); }
  /// Of a request that is not known (its connection is gone) it does nothing.
  void Reply(RequestId id, std::string line) {
    const auto node = answers_.extract(id);
    if (!node.empty()) node.mapped()(std::move(line));
  }

 private:
  uint64_t last_ = 0;
  std::map<RequestId, Answer> answers_;
};

}  // namespace rung::worker
