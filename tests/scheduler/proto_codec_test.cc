#include "scheduler/proto_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "scheduler/client_codec.h"
#include "scheduler/summary_codec.h"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(ProtoCodec, EveryStateOfTheWireReadsBackToItself) {
  for (int word = v1::TrialState_MIN + 1; word <= v1::TrialState_MAX; ++word) {
    const auto state = static_cast<v1::TrialState>(word);
    ASSERT_TRUE(FromProto(state).ok()) << v1::TrialState_Name(state);
    EXPECT_EQ(ToProto(*FromProto(state)), state);
  }
  EXPECT_FALSE(FromProto(v1::TRIAL_STATE_UNSPECIFIED).ok());
  EXPECT_FALSE(FromProto(static_cast<v1::TrialState>(99)).ok());
}

TEST(ProtoCodec, AttemptIdsReadBackAndOutOfRangeOnesAreNamed) {
  const AttemptId id{.trial = {.experiment = {12}, .number = {3}}, .attempt = 1};
  EXPECT_EQ(*FromProto(ToProto(id)), id);
  v1::AttemptId proto;
  EXPECT_EQ(FromProto(proto).status().message(), "experiment_id: must be at least 1, found 0");
  proto.set_experiment_id(1);
  proto.set_trial_number(-1);
  EXPECT_EQ(FromProto(proto).status().message(),
            "trial_number: must be from 0 to 2147483647, found -1");
}

TEST(ProtoCodec, AMetricWithoutACountCountsOnce) {
  google::protobuf::RepeatedPtrField<v1::MetricValue> metrics;
  metrics.Add()->set_name("loss");
  v1::MetricValue& weighted = *metrics.Add();
  weighted.set_name("accuracy");
  weighted.set_value(0.5);
  weighted.set_count(32);
  const std::vector<MetricValue> read = FromProto(metrics);
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].name, "loss");
  EXPECT_EQ(read[0].count, 1);
  EXPECT_EQ(read[1].value, 0.5);
  EXPECT_EQ(read[1].count, 32);
}

TEST(ProtoCodec, StatusesKeepTheirCodeAndAreCutToFitATrailer) {
  const grpc::Status status = ToGrpc(absl::DataLossError(std::string(10'000, 'x')));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(status.error_message().size(), 2'000u);
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
}

TEST(ProtoCodec, OptionalColumnsStayAbsent) {
  TrialRow row;
  row.id = {.experiment = {1}, .number = {2}};
  row.best_value = 0.0;
  const v1::Trial proto = ToProto(row);
  EXPECT_TRUE(proto.has_best_value());
  EXPECT_FALSE(proto.has_best_step());
  EXPECT_FALSE(proto.has_ended_us());
  EXPECT_FALSE(ToProto(ExperimentRow()).has_planned_trials());
  EXPECT_FALSE(ToProto(AttemptRow{}).has_exit_code());
  DecisionRow decision;
  decision.value = std::nan("");
  EXPECT_TRUE(std::isnan(ToProto(decision).value()));
}

TEST(ProtoCodec, AWorkersFreeAmountsAreWhatItsAttemptsLeave) {
  WorkerSummary summary;
  summary.worker.milli_cpus = 4000;
  summary.worker.memory_bytes = 100;
  summary.worker.gpus = 2;
  summary.worker.gpu_names = R"(["H200","H200"])";
  AttemptRow attempt;
  attempt.id = {.trial = {.experiment = {1}, .number = {0}}, .attempt = 0};
  attempt.milli_cpus = 1500;
  attempt.memory_bytes = 30;
  attempt.gpus = 1;
  summary.attempts = {attempt};
  const v1::Worker proto = ToProto(summary);
  EXPECT_EQ(proto.free().milli_cpus(), 2500);
  EXPECT_EQ(proto.free().memory_bytes(), 70);
  EXPECT_EQ(proto.free().gpus(), 1);
  EXPECT_THAT(proto.gpu_names(), ElementsAre("H200", "H200"));
  EXPECT_THAT(proto.attempts(), SizeIs(1));
}

TEST(ClientCodec, RequestsGetTheUsualLeaseAndLimits) {
  v1::StartTrialRequest request;
  request.set_experiment_id(1);
  EXPECT_EQ(std::get<StartTrial>(*EventFromProto({}, "ada", request)).lease,
            std::chrono::minutes(10));
  request.set_lease_ms(5);
  EXPECT_EQ(EventFromProto({}, "ada", request).status().message(),
            "lease_ms: must be from 1000 to 604800000, found 5");
}

TEST(ClientCodec, WhatOnlyTheCombinationShowsIsRefusedBeforeTheLoop) {
  v1::CreateExperimentRequest request;
  request.set_document(R"({"metric": "loss", "goal": "minimize",
    "space": {"c": {"choice": [1, 2]}}, "searcher": {"grid": {"points": {"c": 3}}}})");
  const absl::StatusOr<Event> event = EventFromProto({}, "ada", request);
  ASSERT_FALSE(event.ok());
  EXPECT_EQ(std::string(event.status().message()).substr(0, 22), "searcher.grid.points.c");
}

}  // namespace
}  // namespace rung
