#include "scheduler/worker_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/scheduler/service_fixture.h"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(ServiceTest, AWorkerIsWelcomedAndRunsATrialToItsEnd) {
  WorkerStream worker(channel_);
  worker.Hello("w1");
  const v1::SchedulerMessage welcome = worker.Read();
  ASSERT_TRUE(welcome.has_welcome());
  EXPECT_EQ(welcome.welcome().lease_ms(), 30'000);
  EXPECT_EQ(welcome.welcome().heartbeat_ms(), 5'000);

  int64_t id = 0;
  ASSERT_TRUE(Create(kOnWorkers, "", &id).ok());
  const v1::SchedulerMessage start = worker.Read();
  ASSERT_TRUE(start.has_start_attempt());
  const v1::AttemptId attempt = start.start_attempt().attempt();
  EXPECT_THAT(start.start_attempt().trial().command(), ElementsAre("true", "{lr}"));

  v1::WorkerMessage report;
  report.mutable_report()->set_report_id(7);
  *report.mutable_report()->mutable_attempt() = attempt;
  report.mutable_report()->set_step(1);
  v1::MetricValue& metric = *report.mutable_report()->add_metrics();
  metric.set_name("loss");
  metric.set_value(0.5);
  worker.Write(report);
  const v1::SchedulerMessage answer = worker.Read();
  ASSERT_TRUE(answer.has_answer_report());
  EXPECT_THAT(answer.answer_report().report_ids(), ElementsAre(7u));
  EXPECT_EQ(answer.answer_report().decision(), v1::DECISION_CONTINUE);

  // A report that cannot be read is refused for itself; the session goes on.
  report.mutable_report()->set_report_id(8);
  report.mutable_report()->set_rank(-1);
  worker.Write(report);
  EXPECT_EQ(worker.Read().answer_report().error(),
            "INVALID_ARGUMENT: rank: must be from 0 to 1023, found -1");

  v1::WorkerMessage exited;
  *exited.mutable_attempt_exited()->mutable_attempt() = attempt;
  exited.mutable_attempt_exited()->set_cause(v1::EXIT_CAUSE_COMPLETED);
  exited.mutable_attempt_exited()->set_failed_rank(-1);
  worker.Write(exited);
  EXPECT_TRUE(worker.Read().has_acknowledge_exit());
  EXPECT_EQ(Get(id).state(), v1::EXPERIMENT_STATE_COMPLETED);
  v1::ListWorkersResponse workers;
  ASSERT_TRUE(Call(&v1::Tuner::Stub::ListWorkers, v1::ListWorkersRequest(), &workers).ok());
  ASSERT_THAT(workers.workers(), SizeIs(1));
  EXPECT_EQ(workers.workers(0).free().milli_cpus(), 1000);
}

TEST_F(ServiceTest, AWorkerOfAnotherVersionOrWithoutHelloIsRefused) {
  WorkerStream other(channel_);
  other.Hello("w1", "9.0.0");
  EXPECT_EQ(other.Read().message_case(), v1::SchedulerMessage::MESSAGE_NOT_SET);
  EXPECT_THAT(other.Finish().error_message(), HasSubstr("one minor version of difference"));
  WorkerStream rude(channel_);
  v1::WorkerMessage heartbeat;
  heartbeat.mutable_heartbeat();
  rude.Write(heartbeat);
  EXPECT_EQ(rude.Read().message_case(), v1::SchedulerMessage::MESSAGE_NOT_SET);
  EXPECT_THAT(rude.Finish().error_message(), HasSubstr("must be Hello"));
}

TEST_F(ServiceTest, ASecondWorkerOfOneNameIsRefused) {
  WorkerStream first(channel_);
  first.Hello("w1");
  ASSERT_TRUE(first.Read().has_welcome());
  WorkerStream second(channel_);
  v1::WorkerMessage message;
  message.mutable_hello()->set_name("w1");
  message.mutable_hello()->set_incarnation("second");
  message.mutable_hello()->set_version(RUNG_VERSION);
  second.Write(message);
  EXPECT_EQ(second.Read().message_case(), v1::SchedulerMessage::MESSAGE_NOT_SET);
  EXPECT_EQ(second.Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

class HelloTimeoutTest : public ServiceTest {
 protected:
  HelloTimeoutTest() { config_.sessions.hello_timeout = std::chrono::milliseconds(20); }
};

TEST_F(HelloTimeoutTest, AWorkerThatSaysNothingIsCutOff) {
  WorkerStream worker(channel_);
  EXPECT_EQ(worker.Read().message_case(), v1::SchedulerMessage::MESSAGE_NOT_SET);
  EXPECT_EQ(worker.Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

class ShortLimitsTest : public ServiceTest {
 protected:
  ShortLimitsTest() {
    config_.sessions.outgoing_messages_max = 8;
    config_.logs.first_data_timeout = std::chrono::milliseconds(20);
  }
};

TEST_F(ShortLimitsTest, AWorkerThatReadsNothingIsCutOff) {
  WorkerStream worker(channel_);
  worker.Hello("w1");
  v1::WorkerMessage report;  // refused, so that each is answered at once
  report.mutable_report()->mutable_attempt()->set_experiment_id(-1);
  int written = 0;
  while (written < 1'000'000 && worker.Write(report)) ++written;
  EXPECT_LT(written, 1'000'000);
}

TEST_F(ShortLimitsTest, AWorkerThatDoesNotAnswerForALogIsNamed) {
  WorkerStream worker(channel_);
  worker.Hello("w1");
  ASSERT_TRUE(worker.Read().has_welcome());
  int64_t id = 0;
  ASSERT_TRUE(Create(kOnWorkers, "", &id).ok());
  grpc::ClientContext context;
  Patience(context);
  v1::StreamLogsRequest request;
  request.set_experiment_id(id);
  const auto reader = tuner_->StreamLogs(&context, request);
  v1::StreamLogsResponse data;
  EXPECT_FALSE(reader->Read(&data));
  EXPECT_EQ(reader->Finish().error_message(), "worker \"w1\" did not answer; try again");
}

}  // namespace
}  // namespace rung
