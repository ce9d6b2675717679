#pragma once

#include "scheduler/output.h"

namespace rung {

/// Where messages go once what they promise is durable. Called on the loop thread alone; an
/// implementation must not wait for the network or a client.
class MessageSink {
 public:
  virtual ~MessageSink() = default;

  /// A message to a caller, session or watcher that is gone is dropped.
  virtual void Deliver(Message message) = 0;

  /// The state in memory is gone and will be rebuilt: no session is known any more. Ends the
  /// workers' streams; they connect again and say what they hold.
  virtual void EndSessions() = 0;
};

}  // namespace rung
