#pragma once

#include <variant>

#include "scheduler/experiment_watches.h"
#include "scheduler/message_sink.h"
#include "scheduler/reply_table.h"
#include "scheduler/worker_sessions.h"

namespace rung {

/// Hands each message to whom it is for.
class MessageOutbox final : public MessageSink {
 public:
  /// Messages before the parts are attached are dropped: nobody is connected yet.
  explicit MessageOutbox(ReplyTable& replies) : replies_(replies) {}
  void Attach(WorkerSessions& sessions, ExperimentWatches& watches) {
    sessions_ = &sessions;
    watches_ = &watches;
  }

  void Deliver(Message message) override;
  void EndSessions() override;

 private:
  ReplyTable& replies_;
  WorkerSessions* sessions_ = nullptr;
  ExperimentWatches* watches_ = nullptr;
};

}  // namespace rung
