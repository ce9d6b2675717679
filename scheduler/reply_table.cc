#include "scheduler/reply_table.h"

#include <utility>

namespace rung {

ReplyToken ReplyTable::Add(Callback callback) {
  const absl::MutexLock lock(&mutex_);
  const ReplyToken token{++last_token_};
  callbacks_.emplace(token.value, std::move(callback));
  return token;
}

void ReplyTable::Answer(ReplyToken token, absl::StatusOr<ReplyValue> value) {
  Callback callback;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = callbacks_.find(token.value);
    if (found == callbacks_.end()) return;
    callback = std::move(found->second);
    callbacks_.erase(found);
  }
  callback(std::move(value));
}

}  // namespace rung
