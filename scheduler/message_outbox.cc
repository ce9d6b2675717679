#include "scheduler/message_outbox.h"

#include <utility>

namespace rung {

void MessageOutbox::Deliver(Message message) {
  if (auto* reply = std::get_if<Reply>(&message)) {
    replies_.Answer(reply->token, std::move(reply->value));
  } else if (const auto* command = std::get_if<ToWorker>(&message)) {
    if (sessions_ != nullptr) sessions_->Send(command->session, command->command);
  } else if (const auto* changed = std::get_if<ExperimentChanged>(&message)) {
    if (watches_ != nullptr) watches_->Changed(changed->experiment);
  }
}

void MessageOutbox::EndSessions() {
  if (sessions_ == nullptr) return;
  sessions_->EndAll(absl::UnavailableError("the scheduler rebuilds its state; connect again"));
}

}  // namespace rung
