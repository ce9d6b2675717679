#include "trial_runner/worker/proto_codec.h"

#include <gtest/gtest.h>

namespace rung::worker {
namespace {

Decision DecisionOf(const v1::SchedulerMessage& message) {
  return std::get<StopAttempt>(EventFromProto(message).value().value()).decision;
}

TEST(ProtoCodec, StopSaysWhetherItIsAPauseAndWithoutThatIsAStop) {
  v1::SchedulerMessage message;
  message.mutable_stop_attempt()->set_at_once(true);
  EXPECT_EQ(DecisionOf(message), Decision::kStop);  // as earlier schedulers say it
  message.mutable_stop_attempt()->set_decision(v1::DECISION_STOP);
  EXPECT_EQ(DecisionOf(message), Decision::kStop);
  message.mutable_stop_attempt()->set_decision(v1::DECISION_PAUSE);
  EXPECT_EQ(DecisionOf(message), Decision::kPause);
}

}  // namespace
}  // namespace rung::worker
