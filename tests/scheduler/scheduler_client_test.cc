#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/scheduler/scheduler_world.h"

/// What clients ask: creating, stopping, and ask/tell.
namespace rung {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Resources kTwoCpus{.milli_cpus = 2000, .memory_bytes = 0, .gpus = 0};

ExperimentSpec AskTellSpecOf(int32_t trials) {
  ExperimentSpec spec = FifoSpecOf(trials);
  spec.trial.reset();
  return spec;
}

class SchedulerClient : public testing::Test {
 protected:
  absl::StatusOr<ReplyValue> StopIt(ExperimentId id, const std::string& request_id = "") {
    const ReplyToken token = world.NextToken();
    world.Do(StopExperiment{token, request_id, id});
    return world.ReplyTo(token);
  }
  absl::StatusOr<ReplyValue> StopIt(TrialId id) {
    const ReplyToken token = world.NextToken();
    world.Do(StopTrial{token, "", id});
    return world.ReplyTo(token);
  }
  absl::StatusOr<ReplyValue> Ask(ExperimentId id, const std::string& request_id = "",
                                 std::chrono::milliseconds lease = seconds(600)) {
    const ReplyToken token = world.NextToken();
    world.Do(StartTrial{token, request_id, id, "bob", lease});
    return world.ReplyTo(token);
  }
  absl::StatusOr<ReplyValue> Tell(AttemptId attempt, Steps step, double value) {
    const ReplyToken token = world.NextToken();
    world.Do(ClientReport{token, attempt, step, {{"loss", value, 1}}});
    return world.ReplyTo(token);
  }
  absl::StatusOr<ReplyValue> Finish(AttemptId attempt, bool failed = false) {
    const ReplyToken token = world.NextToken();
    world.Do(FinishTrial{token, "", attempt, failed, ""});
    return world.ReplyTo(token);
  }
  absl::StatusOr<ReplyValue> Keep(AttemptId attempt) {
    const ReplyToken token = world.NextToken();
    world.Do(KeepAlive{token, attempt});
    return world.ReplyTo(token);
  }
  template <typename T>
  static bool Is(const absl::StatusOr<ReplyValue>& reply) {
    return reply.ok() && std::holds_alternative<T>(*reply);
  }

  World world;
};

TEST_F(SchedulerClient, IdsCountUpAndARepeatedRequestIsAnsweredWithTheFirst) {
  EXPECT_EQ(world.TryCreate(FifoSpecOf(1), "r1")->value, 1);
  EXPECT_EQ(world.TryCreate(FifoSpecOf(1), "r2")->value, 2);
  EXPECT_EQ(world.TryCreate(FifoSpecOf(1), "r1")->value, 1);
  world.Restart();
  EXPECT_EQ(world.TryCreate(FifoSpecOf(1), "r1")->value, 1);
  EXPECT_EQ(world.TryCreate(FifoSpecOf(1))->value, 3);
  EXPECT_EQ(world.TryCreate(FifoSpecOf(1))->value, 4);  // no id: each is its own
  EXPECT_THAT(world.storage.tables().experiments, SizeIs(4));
}

TEST_F(SchedulerClient, RequestIdsAreForgottenAfterADay) {
  world.TryCreate(FifoSpecOf(1), "r1").IgnoreError();
  world.Advance(std::chrono::hours(23));
  EXPECT_THAT(world.storage.tables().requests, SizeIs(1));
  world.Advance(std::chrono::hours(2));
  EXPECT_THAT(world.storage.tables().requests, IsEmpty());
  EXPECT_EQ(world.TryCreate(FifoSpecOf(1), "r1")->value, 2);
}

TEST_F(SchedulerClient, ARequestIdOfAnotherMethodIsRefused) {
  world.TryCreate(FifoSpecOf(1), "r1").IgnoreError();
  EXPECT_THAT(StopIt(ExperimentId{1}, "r1").status().message(), HasSubstr("CreateExperiment"));
}

TEST_F(SchedulerClient, NothingIsCreatedFromWhatIsRefused) {
  ExperimentSpec spec = FifoSpecOf(1);
  AshaSpec asha;
  asha.max_t = 10;
  asha.grace_period = 1;
  asha.reduction_factor = 3;
  asha.brackets = 9;
  spec.scheduler = asha;
  EXPECT_THAT(world.TryCreate(spec, "r1").status().message(), HasSubstr("asha.brackets"));
  spec.scheduler = FifoSpec{};
  spec.best_by = BestBy::kMaxT;
  EXPECT_THAT(world.TryCreate(spec, "r1").status().message(), HasSubstr("best_by"));
  EXPECT_THAT(world.storage.tables().experiments, IsEmpty());
  EXPECT_THAT(world.storage.tables().requests, IsEmpty());
  EXPECT_EQ(world.TryCreate(FifoSpecOf(1), "r1")->value, 1);
}

TEST_F(SchedulerClient, TheExperimentRowSaysWhatIsPlanned) {
  const ExperimentId e = world.Create(FifoSpecOf(3));
  EXPECT_EQ(world.ExperimentAt(e).planned_trials, 3);
  EXPECT_EQ(world.ExperimentAt(e).owner, "ada");
  EXPECT_THAT(world.ExperimentAt(e).plan, HasSubstr("\"planned_trials\":3"));
}

TEST_F(SchedulerClient, StopEndsAttemptsAtOnceAndCancelsTheRest) {
  const SessionId w1 = world.Connect("w1", kTwoCpus);
  const ExperimentId e = world.Create(FifoSpecOf(9));
  EXPECT_TRUE(Is<Done>(StopIt(e)));
  ASSERT_THAT(world.Commands<StopAttempt>(), SizeIs(2));
  EXPECT_TRUE(world.Commands<StopAttempt>()[0].at_once);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kStopping);
  EXPECT_EQ(world.TrialAt(e, 2).state, TrialState::kCancelled);  // it waited ahead
  EXPECT_EQ(world.Report(w1, AttemptOf(e, 0), 1, 0.5)->decision, Decision::kStop);
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kStopped);
  world.Exit(w1, AttemptOf(e, 1), ExitCause::kStopped);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kStopped);
  EXPECT_EQ(world.ExperimentAt(e).reason, "stop_requested");
  EXPECT_TRUE(Is<Done>(StopIt(e)));  // the wish is fulfilled already
  EXPECT_EQ(StopIt(ExperimentId{99}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(world.Describe(), world.CopyRestored().Describe());
}

TEST_F(SchedulerClient, AStopThatDidNotArriveIsSentAgainOnReconnect) {
  const SessionId w1 = world.Connect("w1", kTwoCpus);
  const ExperimentId e = world.Create(FifoSpecOf(1));
  world.Do(AttemptStarted{w1, AttemptOf(e, 0)});
  world.Do(WorkerDisconnected{w1});
  StopIt(e).IgnoreError();
  EXPECT_THAT(world.Commands<StopAttempt>(), IsEmpty());
  world.Restart();
  world.Connect("w1", kTwoCpus, {{AttemptOf(e, 0), AttemptState::kRunning, 0}});
  ASSERT_THAT(world.Commands<StopAttempt>(), SizeIs(1));
  EXPECT_TRUE(world.Commands<StopAttempt>()[0].at_once);
}

TEST_F(SchedulerClient, AnExperimentWithNothingRunningStopsInOneStep) {
  const ExperimentId e = world.Create(FifoSpecOf(1));
  StopIt(e).IgnoreError();
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kStopped);
}

TEST_F(SchedulerClient, StoppingOneTrialLeavesTheOthers) {
  const SessionId w1 = world.Connect("w1", kTwoCpus);
  const ExperimentId e = world.Create(FifoSpecOf(4));
  EXPECT_TRUE(Is<Done>(StopIt(TrialId{e, {0}})));
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kCancelled);
  EXPECT_THAT(world.Commands<StopAttempt>(), SizeIs(1));
  EXPECT_TRUE(Is<Done>(StopIt(TrialId{e, {2}})));  // the queued one; the next one takes its place
  EXPECT_EQ(world.TrialAt(e, 2).state, TrialState::kCancelled);
  EXPECT_EQ(world.TrialAt(e, 3).state, TrialState::kQueued);
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kStopped);
  EXPECT_EQ(world.TrialAt(e, 3).state, TrialState::kRunning);
  EXPECT_EQ(StopIt(TrialId{e, {9}}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SchedulerClient, AskAndTellRunsAnExperimentToItsEnd) {
  const ExperimentId e = world.Create(AskTellSpecOf(2));
  const absl::StatusOr<ReplyValue> first = Ask(e);
  ASSERT_TRUE(Is<TrialStarted>(first));
  const TrialStarted started = std::get<TrialStarted>(*first);
  EXPECT_EQ(started.attempt, AttemptOf(e, 0));
  EXPECT_THAT(started.params, HasSubstr("\"lr\":"));
  EXPECT_TRUE(Is<ReportAnswered>(Tell(started.attempt, 1, 0.5)));
  EXPECT_TRUE(Is<TrialStarted>(Ask(e)));
  EXPECT_TRUE(Is<NoTrialNow>(Ask(e)));
  EXPECT_TRUE(Is<Done>(Finish(AttemptOf(e, 0))));
  EXPECT_TRUE(Is<NoTrialNow>(Ask(e)));
  EXPECT_TRUE(Is<Done>(Finish(AttemptOf(e, 1), /*failed=*/true)));
  EXPECT_TRUE(Is<ExperimentFinished>(Ask(e)));
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kCompleted);
  EXPECT_EQ(world.TrialAt(e, 1).state, TrialState::kFailed);
  EXPECT_EQ(world.AttemptAt(e, 0, 0).owner, "bob");
}

TEST_F(SchedulerClient, ARepeatedStartTrialGivesTheSameTrial) {
  const ExperimentId e = world.Create(AskTellSpecOf(5));
  const auto first = Ask(e, "ask-1");
  world.Restart();
  const auto again = Ask(e, "ask-1");
  ASSERT_TRUE(Is<TrialStarted>(again));
  EXPECT_EQ(std::get<TrialStarted>(*again).attempt, std::get<TrialStarted>(*first).attempt);
  EXPECT_EQ(std::get<TrialStarted>(*again).params, std::get<TrialStarted>(*first).params);
}

TEST_F(SchedulerClient, ALeaseHasItsLengthAfterARestart) {
  const ExperimentId e = world.Create(AskTellSpecOf(1));
  Ask(e, "", seconds(60)).IgnoreError();
  EXPECT_EQ(world.AttemptAt(e, 0, 0).lease_s, 60.0);
  world.Advance(seconds(30));
  world.Restart();
  world.Advance(seconds(59));  // it begins anew: nobody could renew it meanwhile
  EXPECT_TRUE(Is<Done>(Keep(AttemptOf(e, 0))));
  world.Advance(seconds(60));
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kLost);
}

TEST_F(SchedulerClient, ASilentClientLosesItsTrialAndIsToldSo) {
  const ExperimentId e = world.Create(AskTellSpecOf(1));
  Ask(e, "", seconds(60)).IgnoreError();
  world.Advance(seconds(59));
  EXPECT_TRUE(Is<Done>(Keep(AttemptOf(e, 0))));
  world.Advance(seconds(59));
  EXPECT_TRUE(Is<ReportAnswered>(Tell(AttemptOf(e, 0), 1, 0.5)));
  world.Advance(seconds(60));
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kLost);
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kQueued);
  for (const auto& late :
       {Tell(AttemptOf(e, 0), 2, 0.4), Keep(AttemptOf(e, 0)), Finish(AttemptOf(e, 0))}) {
    EXPECT_EQ(late.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(late.status().message(), HasSubstr("attempt 1.0.0 is lost"));
  }
  EXPECT_THAT(world.storage.tables().metrics, SizeIs(1));
  const auto next = Ask(e);
  ASSERT_TRUE(Is<TrialStarted>(next));
  EXPECT_EQ(std::get<TrialStarted>(*next).attempt, AttemptOf(e, 0, 1));  // same number
}

TEST_F(SchedulerClient, AskTellObeysTheRule) {
  ExperimentSpec spec = AskTellSpecOf(2);
  AshaSpec asha;
  asha.max_t = 10;
  asha.grace_period = 1;
  asha.reduction_factor = 3;
  spec.scheduler = asha;
  const ExperimentId e = world.Create(spec);
  Ask(e).IgnoreError();
  Ask(e).IgnoreError();
  Tell(AttemptOf(e, 0), 1, 0.5).IgnoreError();
  const auto told = Tell(AttemptOf(e, 1), 1, 0.6);
  ASSERT_TRUE(Is<ReportAnswered>(told));
  EXPECT_EQ(std::get<ReportAnswered>(*told).decision, Decision::kStop);
  EXPECT_EQ(std::get<ReportAnswered>(*told).reason, "below_cutoff");
  EXPECT_TRUE(Is<Done>(Finish(AttemptOf(e, 1))));
  EXPECT_EQ(world.TrialAt(e, 1).state, TrialState::kStopped);
  EXPECT_EQ(world.AttemptAt(e, 1, 0).exit_cause, ExitCause::kStopped);
}

TEST_F(SchedulerClient, AStoppedAskTellExperimentEndsWithItsLastClient) {
  const ExperimentId e = world.Create(AskTellSpecOf(9));
  Ask(e).IgnoreError();
  StopIt(e).IgnoreError();
  EXPECT_TRUE(Is<ExperimentFinished>(Ask(e)));
  const auto told = Tell(AttemptOf(e, 0), 1, 0.5);
  ASSERT_TRUE(Is<ReportAnswered>(told));
  EXPECT_EQ(std::get<ReportAnswered>(*told).decision, Decision::kStop);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kStopping);
  EXPECT_TRUE(Is<Done>(Finish(AttemptOf(e, 0))));
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kStopped);
}

TEST_F(SchedulerClient, ThirtyTwoClientsWithFortyReportsEachLeaveNothingRunning) {
  const ExperimentId e = world.Create(AskTellSpecOf(32));
  for (int client = 0; client < 32; ++client) EXPECT_TRUE(Is<TrialStarted>(Ask(e)));
  for (Steps step = 1; step <= 40; ++step) {
    for (int32_t client = 0; client < 32; ++client) {
      EXPECT_TRUE(Is<ReportAnswered>(Tell(AttemptOf(e, client), step, 0.5)));
    }
  }
  for (int32_t client = 0; client < 32; ++client)
    EXPECT_TRUE(Is<Done>(Finish(AttemptOf(e, client))));
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kCompleted);
  EXPECT_THAT(world.storage.tables().metrics, SizeIs(32 * 40));
}

TEST_F(SchedulerClient, AskTellIsRefusedWhereWorkersRunTheTrials) {
  world.Connect("w1", kTwoCpus);
  const ExperimentId e = world.Create(FifoSpecOf(1));
  EXPECT_EQ(Ask(e).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Ask(e).status().message(), HasSubstr("without the key `trial`"));
  EXPECT_THAT(Tell(AttemptOf(e, 0), 1, 0.5).status().message(), HasSubstr("RUNG_SOCKET"));
  const ExperimentId ask = world.Create(AskTellSpecOf(1));
  EXPECT_EQ(Ask(ExperimentId{77}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Tell(AttemptOf(ask, 0), 1, 0.5).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SchedulerClient, NoTrialIsHandedOutTwice) {
  // The same seed and one server: thirty-two askers get thirty-two different numbers.
  const ExperimentId e = world.Create(AskTellSpecOf(32));
  std::set<int32_t> numbers;
  for (int i = 0; i < 32; ++i) {
    numbers.insert(std::get<TrialStarted>(*Ask(e)).attempt.trial.number.value);
  }
  EXPECT_THAT(numbers, SizeIs(32));
  EXPECT_TRUE(Is<NoTrialNow>(Ask(e)));
}

}  // namespace
}  // namespace rung
