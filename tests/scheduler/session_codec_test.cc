#include "scheduler/session_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr SessionId kSession{5};
constexpr AttemptId kAttempt{.trial = {.experiment = {12}, .number = {3}}, .attempt = 1};

v1::AttemptId Attempt() {
  v1::AttemptId id;
  id.set_experiment_id(12);
  id.set_trial_number(3);
  id.set_attempt(1);
  return id;
}

template <typename Expected>
Expected Read(const v1::WorkerMessage& message) {
  const absl::StatusOr<Event> event = EventFromProto(kSession, message);
  EXPECT_TRUE(event.ok()) << event.status();
  return std::get<Expected>(*event);
}

std::string ErrorOf(const v1::WorkerMessage& message) {
  const absl::StatusOr<Event> event = EventFromProto(kSession, message);
  return event.ok() ? "accepted" : std::string(event.status().message());
}

TEST(SessionCodec, ReadsHelloWithWhatTheWorkerHolds) {
  v1::WorkerMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_name("gpu-1");
  hello.set_incarnation("a");
  hello.set_host("10.0.0.5");
  hello.set_version("0.1.0");
  hello.mutable_total()->set_milli_cpus(4000);
  hello.mutable_total()->set_gpus(2);
  hello.add_gpu_names("H200");
  v1::HeldAttempt& held = *hello.add_held();
  *held.mutable_attempt() = Attempt();
  held.set_state(v1::ATTEMPT_STATE_STOPPING);
  held.set_last_stored_step(7);
  const auto event = Read<WorkerConnected>(message);
  EXPECT_EQ(event.session, kSession);
  EXPECT_EQ(event.worker.name, "gpu-1");
  EXPECT_EQ(event.worker.total, (Resources{.milli_cpus = 4000, .memory_bytes = 0, .gpus = 2}));
  EXPECT_THAT(event.worker.gpu_names, ElementsAre("H200"));
  ASSERT_THAT(event.held, SizeIs(1));
  EXPECT_EQ(event.held[0].attempt, kAttempt);
  EXPECT_EQ(event.held[0].state, AttemptState::kStopping);
  EXPECT_EQ(event.held[0].last_stored_step, 7);

  held.set_state(v1::ATTEMPT_STATE_UNSPECIFIED);
  EXPECT_EQ(ErrorOf(message), "state: must be one of 1 … 6, found 0");
  hello.set_name("a,b");
  EXPECT_THAT(ErrorOf(message), HasSubstr("must not hold a comma"));
  hello.set_name("");
  EXPECT_EQ(ErrorOf(message), "hello.name: must not be empty");
}

TEST(SessionCodec, ReadsReportsWithNonFiniteValuesAndCountsOfOne) {
  v1::WorkerMessage message;
  v1::WorkerReport& report = *message.mutable_report();
  report.set_report_id(9);
  *report.mutable_attempt() = Attempt();
  report.set_rank(1);
  report.set_step(10);
  v1::MetricValue& loss = *report.add_metrics();
  loss.set_name("loss");
  loss.set_value(std::numeric_limits<double>::quiet_NaN());
  const auto event = Read<WorkerReport>(message);
  EXPECT_EQ(event.report_id, 9u);
  EXPECT_EQ(event.attempt, kAttempt);
  EXPECT_EQ(event.rank, 1);
  ASSERT_THAT(event.metrics, SizeIs(1));
  EXPECT_TRUE(std::isnan(event.metrics[0].value));
  EXPECT_EQ(event.metrics[0].count, 1);

  const v1::SchedulerMessage refused = RefusedReport(report, absl::InvalidArgumentError("why"));
  EXPECT_THAT(refused.answer_report().report_ids(), ElementsAre(9u));
  EXPECT_EQ(refused.answer_report().error(), "INVALID_ARGUMENT: why");
}

TEST(SessionCodec, ReadsExitsAndKeepsTheEndOfALongStderr) {
  v1::WorkerMessage message;
  v1::AttemptExited& exited = *message.mutable_attempt_exited();
  *exited.mutable_attempt() = Attempt();
  exited.set_cause(v1::EXIT_CAUSE_FAILED);
  exited.set_exit_code(137);
  exited.add_stderr_tails()->set_text("x" + std::string(64 * 1024, 'y'));
  const auto event = Read<AttemptExited>(message);
  EXPECT_EQ(event.cause, ExitCause::kFailed);
  EXPECT_EQ(event.exit_code, 137);
  ASSERT_THAT(event.stderr_tails, SizeIs(1));
  EXPECT_EQ(event.stderr_tails[0].second, std::string(64 * 1024, 'y'));
  exited.clear_exit_code();
  EXPECT_EQ(Read<AttemptExited>(message).exit_code, std::nullopt);
  // Cut inside a character of two bytes, it is still text that can be sent on.
  exited.set_message(std::string(4'095, 'x') + "\u00e9");
  EXPECT_EQ(Read<AttemptExited>(message).message, std::string(4'095, 'x') + "\uFFFD");
  exited.set_cause(v1::EXIT_CAUSE_UNSPECIFIED);
  EXPECT_THAT(ErrorOf(message), HasSubstr("cause: must be one of"));
}

TEST(SessionCodec, ReadsTheShortMessages) {
  v1::WorkerMessage message;
  message.mutable_heartbeat();
  EXPECT_EQ(Read<WorkerHeartbeat>(message).session, kSession);
  message.mutable_goodbye();
  EXPECT_EQ(Read<WorkerGoodbye>(message).session, kSession);
  *message.mutable_attempt_started()->mutable_attempt() = Attempt();
  EXPECT_EQ(Read<AttemptStarted>(message).attempt, kAttempt);
  *message.mutable_rank_exited()->mutable_attempt() = Attempt();
  message.mutable_rank_exited()->set_rank(2);
  EXPECT_EQ(Read<RankExited>(message).rank, 2);
  *message.mutable_checkpoint()->mutable_attempt() = Attempt();
  message.mutable_checkpoint()->set_path("step-10");
  EXPECT_EQ(ErrorOf(message), "path: must be absolute, found \"step-10\"");
  message.mutable_checkpoint()->set_path("/c/step-10");
  EXPECT_EQ(Read<CheckpointReported>(message).path, "/c/step-10");
  EXPECT_THAT(ErrorOf({}), HasSubstr("does not know"));
}

TEST(SessionCodec, WritesEveryCommand) {
  const SessionTimes times{.heartbeat = std::chrono::milliseconds(5'000),
                           .lease = std::chrono::milliseconds(30'000)};
  const v1::SchedulerMessage welcome = ToProto(Welcome{.keep = {kAttempt}}, times);
  EXPECT_EQ(welcome.welcome().keep(0).trial_number(), 3);
  EXPECT_EQ(welcome.welcome().heartbeat_ms(), 5'000);

  StartAttempt start{.attempt = kAttempt,
                     .experiment_name = "e",
                     .params = "{}",
                     .trial = {.command = {"run", "{lr}"},
                               .working_dir = "/w",
                               .env = {{"A", "b"}},
                               .processes = 2,
                               .per_process = {.milli_cpus = 500, .memory_bytes = 1, .gpus = 3},
                               .reduce = Reduce::kMean,
                               .resumable = true,
                               .checkpoint_root = "/c"},
                     .seed = 8,
                     .resume_step = 4,
                     .resume_from = "/c/step-4",
                     .max_step = 100};
  const v1::SchedulerMessage message = ToProto(start, times);
  const v1::StartAttempt& proto = message.start_attempt();
  EXPECT_THAT(proto.trial().command(), ElementsAre("run", "{lr}"));
  EXPECT_EQ(proto.trial().env(0).value(), "b");
  EXPECT_EQ(proto.trial().per_process().gpus(), 3);
  EXPECT_EQ(proto.trial().reduce(), v1::REDUCE_MEAN);
  EXPECT_EQ(proto.trial().grace_ms(), 30'000);
  EXPECT_EQ(proto.trial().finish_grace_ms(), 600'000);
  EXPECT_EQ(proto.max_step(), 100);
  start.max_step.reset();
  EXPECT_FALSE(ToProto(start, times).start_attempt().has_max_step());

  EXPECT_TRUE(ToProto(StopAttempt{.attempt = kAttempt, .at_once = true, .reason = {}}, times)
                  .stop_attempt()
                  .at_once());
  EXPECT_EQ(
      ToProto(StopAttempt{.attempt = kAttempt, .reason = {}, .decision = Decision::kPause}, times)
          .stop_attempt()
          .decision(),
      v1::DECISION_PAUSE);
  const v1::SchedulerMessage answer =
      ToProto(AnswerReport{.attempt = kAttempt,
                           .step = 10,
                           .report_ids = {1, 2},
                           .decision = Decision::kStop,
                           .reason = "below_cutoff",
                           .error = {},
                           .grace = std::chrono::milliseconds(30'000)},
              times);
  EXPECT_THAT(answer.answer_report().report_ids(), ElementsAre(1u, 2u));
  EXPECT_EQ(answer.answer_report().decision(), v1::DECISION_STOP);
  EXPECT_EQ(ToProto(AcknowledgeCheckpoint{.report_id = 6, .attempt = kAttempt, .error = {}}, times)
                .acknowledge_checkpoint()
                .report_id(),
            6u);
  EXPECT_EQ(
      ToProto(AcknowledgeExit{.attempt = kAttempt}, times).acknowledge_exit().attempt().attempt(),
      1);
}

}  // namespace
}  // namespace rung
