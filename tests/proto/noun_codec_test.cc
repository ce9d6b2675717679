#include "proto/noun_codec.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rung {
namespace {

TEST(NounCodec, EveryStateAndCauseOfTheWireReadsBackToItself) {
  for (int word = v1::AttemptState_MIN + 1; word <= v1::AttemptState_MAX; ++word) {
    EXPECT_EQ(ToProto(*FromProto(static_cast<v1::AttemptState>(word))), word);
  }
  for (int word = v1::ExitCause_MIN + 1; word <= v1::ExitCause_MAX; ++word) {
    EXPECT_EQ(ToProto(*FromProto(static_cast<v1::ExitCause>(word))), word);
  }
  EXPECT_FALSE(FromProto(v1::ATTEMPT_STATE_UNSPECIFIED).ok());
  EXPECT_EQ(FromProto(static_cast<v1::ExitCause>(99)).status().message(),
            "cause: must be one of 1 … 6, found 99");
}

TEST(NounCodec, DecisionsHaveTheirWords) {
  EXPECT_EQ(ToProto(Decision::kContinue), v1::DECISION_CONTINUE);
  EXPECT_EQ(ToProto(Decision::kStop), v1::DECISION_STOP);
  EXPECT_EQ(ToProto(Decision::kPause), v1::DECISION_PAUSE);
}

TEST(NounCodec, IdsAmountsAndValuesKeepTheirFields) {
  const v1::AttemptId id = ToProto(AttemptId{.trial = {{12}, {3}}, .attempt = 1});
  EXPECT_EQ(id.experiment_id(), 12);
  EXPECT_EQ(id.trial_number(), 3);
  EXPECT_EQ(id.attempt(), 1);
  const v1::Resources amount =
      ToProto(Resources{.milli_cpus = 1500, .memory_bytes = int64_t{1} << 40, .gpus = 2});
  EXPECT_EQ(amount.milli_cpus(), 1500);
  EXPECT_EQ(amount.memory_bytes(), int64_t{1} << 40);
  EXPECT_EQ(amount.gpus(), 2);
  const v1::MetricValue value = ToProto(MetricValue{.name = "loss", .value = NAN, .count = 32});
  EXPECT_EQ(value.name(), "loss");
  EXPECT_TRUE(std::isnan(value.value()));
  EXPECT_EQ(value.count(), 32);
}

}  // namespace
}  // namespace rung
