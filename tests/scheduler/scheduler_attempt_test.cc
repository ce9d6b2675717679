#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/scheduler_world.h"

/// Lives of attempts: exits, failures, losses, workers that come and go.
namespace rung {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Resources kOneCpu{.milli_cpus = 1000, .memory_bytes = 0, .gpus = 0};
constexpr Resources kTwoCpus{.milli_cpus = 2000, .memory_bytes = 0, .gpus = 0};

class SchedulerAttempt : public testing::Test {
 protected:
  void Start(const ExperimentSpec& spec, Resources total = kOneCpu) {
    w1 = world.Connect("w1", total);
    e = world.Create(spec);
  }
  std::vector<AttemptId> Started() const {
    std::vector<AttemptId> ids;
    for (const StartAttempt& start : world.Commands<StartAttempt>()) ids.push_back(start.attempt);
    return ids;
  }

  World world;
  SessionId w1;
  ExperimentId e;
};

TEST_F(SchedulerAttempt, ATrialFailsAtFailureMPlusOne) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->max_failures = 2;
  Start(spec);
  for (int32_t attempt = 0; attempt < 2; ++attempt) {
    world.Exit(w1, AttemptOf(e, 0, attempt), ExitCause::kFailed);
    EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, attempt + 1)));
    EXPECT_EQ(world.TrialAt(e, 0).failures, attempt + 1);
  }
  world.Exit(w1, AttemptOf(e, 0, 2), ExitCause::kFailed);
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kFailed);
  EXPECT_EQ(world.TrialAt(e, 0).reason, "max_failures");
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kFailed);
  EXPECT_EQ(world.ExperimentAt(e).reason, "no_trial_completed");
}

TEST_F(SchedulerAttempt, ExitsAreAcknowledgedEvenWhenRepeatedOrUnknown) {
  Start(FifoSpecOf(2));
  world.Exit(w1, AttemptOf(e, 0));
  EXPECT_THAT(world.Commands<AcknowledgeExit>(), SizeIs(1));
  const size_t events = world.storage.tables().events.size();
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kFailed);
  EXPECT_THAT(world.Commands<AcknowledgeExit>(), SizeIs(1));
  world.Exit(w1, {{{77}, {0}}, 0});
  EXPECT_THAT(world.Commands<AcknowledgeExit>(), SizeIs(1));
  EXPECT_EQ(world.storage.tables().events.size(), events);
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kCompleted);
}

TEST_F(SchedulerAttempt, TheTailsOfFailedRanksAreKept) {
  Start(FifoSpecOf(1));
  AttemptExited exit;
  exit.session = w1;
  exit.attempt = AttemptOf(e, 0);
  exit.cause = ExitCause::kFailed;
  exit.exit_code = 137;
  exit.message = "rank 0 was killed";
  exit.stderr_tails = {{0, "the end"}};
  world.Do(exit);
  EXPECT_EQ(world.storage.tables().log_tails.at({AttemptOf(e, 0), 0}).text, "the end");
  EXPECT_EQ(world.AttemptAt(e, 0, 0).exit_code, 137);
  EXPECT_EQ(world.AttemptAt(e, 0, 0).message, "rank 0 was killed");
}

TEST_F(SchedulerAttempt, ARefusalIsNeitherFailureNorLossAndPassesTheWorkerOver) {
  Start(FifoSpecOf(1));
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kRefused);
  EXPECT_THAT(Started(), IsEmpty());
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kQueued);
  EXPECT_EQ(world.TrialAt(e, 0).failures, 0);
  EXPECT_EQ(world.TrialAt(e, 0).losses, 0);
  EXPECT_THAT(world.TrialAt(e, 0).reason, HasSubstr("refused it: w1: no folder /x"));
  world.Restart();
  world.Connect("w1", kOneCpu);
  EXPECT_THAT(Started(), IsEmpty());  // known after a restart too
  world.Connect("w2", kOneCpu);
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));
}

TEST_F(SchedulerAttempt, AMachineThatCannotStartTrialsFailsNoneAndIsTriedAgainLater) {
  Start(FifoSpecOf(9));
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kCouldNotStart);
  EXPECT_THAT(Started(), IsEmpty());  // it is free, and would take one trial after the other
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kQueued);
  EXPECT_EQ(world.TrialAt(e, 0).failures, 0);
  EXPECT_EQ(world.TrialAt(e, 0).losses, 0);
  EXPECT_THAT(world.TrialAt(e, 0).reason,
              HasSubstr("w1: could not start it, and is tried again later: the disk is full"));
  world.Advance(milliseconds(9'999));
  EXPECT_THAT(Started(), IsEmpty());
  world.Advance(milliseconds(1));
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));
  world.Exit(w1, AttemptOf(e, 0, 1), ExitCause::kCouldNotStart);
  world.Advance(milliseconds(19'999));  // twice as long
  EXPECT_THAT(Started(), IsEmpty());
  world.Advance(milliseconds(1));
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 2)));
  world.Do(AttemptStarted{w1, AttemptOf(e, 0, 2)});  // it can again, which ends the row
  world.Exit(w1, AttemptOf(e, 0, 2), ExitCause::kFailed);
  ASSERT_THAT(Started(), ElementsAre(AttemptOf(e, 1)));
  world.Exit(w1, AttemptOf(e, 1), ExitCause::kCouldNotStart);
  world.Advance(seconds(10));
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 1, 1)));
}

TEST_F(SchedulerAttempt, AttemptsThatAMachineCannotStartTogetherCountAsOne) {
  Start(FifoSpecOf(2), kTwoCpus);
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kCouldNotStart);
  world.Exit(w1, AttemptOf(e, 1), ExitCause::kCouldNotStart);
  world.Advance(seconds(10));
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1), AttemptOf(e, 1, 1)));
}

TEST_F(SchedulerAttempt, WhatOneMachineCannotStartAnotherDoesAtOnce) {
  Start(FifoSpecOf(1));
  world.Connect("w2", kOneCpu);
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kCouldNotStart);
  ASSERT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));
  EXPECT_EQ(world.AttemptAt(e, 0, 1).workers, "w2");
}

TEST_F(SchedulerAttempt, AMachineThatNeverStartsATrialIsGivenUpUntilItsDaemonIsRestarted) {
  world = World({.lease = std::chrono::hours(1'000)});
  Start(FifoSpecOf(1));
  for (int32_t attempt = 0; attempt < 100; ++attempt) {
    ASSERT_EQ(world.TrialAt(e, 0).state, TrialState::kRunning) << attempt;
    world.Exit(w1, AttemptOf(e, 0, attempt), ExitCause::kCouldNotStart);
    world.Advance(seconds(600));  // the longest back-off
  }
  world.Advance(std::chrono::hours(100));
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kQueued);
  world.Do(WorkerDisconnected{w1});
  w1 = world.Connect("w1", kOneCpu, {}, "2");
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 100)));
}

TEST_F(SchedulerAttempt, ASilentWorkerLosesItsAttemptsWhenItsLeaseRunsOut) {
  Start(FifoSpecOf(1));
  world.Do(AttemptStarted{w1, AttemptOf(e, 0)});
  world.Advance(seconds(29));
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kRunning);
  world.Do(WorkerHeartbeat{w1});
  world.Advance(seconds(29));
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kRunning);
  world.Advance(seconds(1));
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kLost);
  EXPECT_EQ(world.AttemptAt(e, 0, 0).exit_cause, ExitCause::kLost);
  EXPECT_EQ(world.AttemptAt(e, 0, 0).cpu_s, 59);
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kQueued);
  EXPECT_EQ(world.TrialAt(e, 0).losses, 1);
  EXPECT_EQ(world.TrialAt(e, 0).failures, 0);
  EXPECT_EQ(world.storage.tables().workers.at("w1").state, "lost");
  EXPECT_THAT(world.Commands<RefuseWorker>(), SizeIs(1));  // its stream is ended
  // It comes back with the attempt: that is killed, and the next one starts.
  w1 = world.Connect("w1", kOneCpu, {{AttemptOf(e, 0), AttemptState::kRunning, 0}});
  EXPECT_THAT(world.Commands<Welcome>().at(0).keep, IsEmpty());
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));
}

TEST_F(SchedulerAttempt, AWorkerBackWithinItsLeaseLosesNothing) {
  Start(FifoSpecOf(1));
  world.Do(AttemptStarted{w1, AttemptOf(e, 0)});
  world.Do(WorkerDisconnected{w1});
  EXPECT_EQ(world.storage.tables().workers.at("w1").state, "disconnected");
  world.Advance(seconds(20));
  w1 = world.Connect("w1", kOneCpu, {{AttemptOf(e, 0), AttemptState::kRunning, 0}});
  EXPECT_THAT(world.Commands<Welcome>().at(0).keep, ElementsAre(AttemptOf(e, 0)));
  EXPECT_EQ(world.storage.tables().workers.at("w1").state, "connected");
  world.Advance(seconds(20));
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kRunning);
}

TEST_F(SchedulerAttempt, AWorkerThatSaysGoodbyeIsGoneAtOnce) {
  Start(FifoSpecOf(1));
  world.Do(AttemptStarted{w1, AttemptOf(e, 0)});
  world.Do(WorkerGoodbye{w1});
  EXPECT_EQ(world.storage.tables().workers.at("w1").state, "gone");
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kLost);
  EXPECT_EQ(world.AttemptAt(e, 0, 0).message, "worker w1 was ended");
  world.Do(WorkerDisconnected{w1});  // its stream ends after it
  world.Advance(seconds(60));
  EXPECT_EQ(world.storage.tables().workers.at("w1").state, "gone");  // not lost as well
  w1 = world.Connect("w1", kOneCpu, {}, "2");
  EXPECT_EQ(world.storage.tables().workers.at("w1").state, "connected");
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));
}

TEST_F(SchedulerAttempt, TheCheckpointsOfAWorkerThatIsGoneAreWaitedForDuringItsLease) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->resumable = true;
  Start(spec);
  world.Do(AttemptStarted{w1, AttemptOf(e, 0)});
  world.Do(CheckpointReported{w1, 1, AttemptOf(e, 0), 4, "/c/4", 10});
  world.Do(WorkerGoodbye{w1});
  const SessionId w2 = world.Connect("w2", kOneCpu);
  EXPECT_THAT(Started(), IsEmpty());
  world.Advance(seconds(29));
  world.Do(WorkerHeartbeat{w2});
  world.Advance(seconds(1));
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));  // on w2, from step 0
}

TEST_F(SchedulerAttempt, AfterARestartLeasesStartAnew) {
  Start(FifoSpecOf(1));
  world.Advance(seconds(29));
  world.Restart();
  world.Advance(seconds(29));
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kAssigned);
  world.Advance(seconds(1));
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kLost);
}

TEST_F(SchedulerAttempt, AnAssignmentThatDidNotArriveIsSentAgain) {
  Start(FifoSpecOf(1));
  world.Do(WorkerDisconnected{w1});
  w1 = world.Connect("w1", kOneCpu);
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 0)));
  world.Do(AttemptStarted{w1, AttemptOf(e, 0)});
  world.Do(WorkerDisconnected{w1});
  w1 = world.Connect("w1", kOneCpu);  // it ran, and is gone
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kLost);
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));
}

TEST_F(SchedulerAttempt, ANewIncarnationHasLostEvenWhatWasOnlyAssigned) {
  Start(FifoSpecOf(1));
  world.Do(WorkerDisconnected{w1});
  w1 = world.Connect("w1", kOneCpu, {}, "2");
  EXPECT_EQ(world.AttemptAt(e, 0, 0).state, AttemptState::kLost);
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));
}

TEST_F(SchedulerAttempt, ASecondLiveWorkerOfOneNameIsRefused) {
  Start(FifoSpecOf(1));
  world.Connect("w1", kOneCpu, {}, "2");
  ASSERT_THAT(world.Commands<RefuseWorker>(), SizeIs(1));
  EXPECT_THAT(world.Commands<RefuseWorker>()[0].reason, HasSubstr("--name"));
  EXPECT_THAT(world.Commands<Welcome>(), IsEmpty());
  world.Connect("w1", kOneCpu, {{AttemptOf(e, 0)}}, "1");  // the same one, reconnecting
  EXPECT_THAT(world.Commands<Welcome>(), SizeIs(1));
}

TEST_F(SchedulerAttempt, AWorkerThatIsEndedCostsALossAndNoFailure) {
  Start(FifoSpecOf(1));
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kStopped);  // nobody asked the trial to stop
  EXPECT_EQ(world.TrialAt(e, 0).losses, 1);
  EXPECT_EQ(world.TrialAt(e, 0).failures, 0);
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));
}

TEST_F(SchedulerAttempt, LossesInARowEndInLostRepeatedly) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->max_losses = 3;
  Start(spec);
  for (int32_t attempt = 0; attempt < 3; ++attempt) {
    world.Do(AttemptStarted{w1, AttemptOf(e, 0, attempt)});
    // The same first step each time: no newly stored one after the first attempt's.
    world.Report(w1, AttemptOf(e, 0, attempt), 1, 0.5);
    world.Do(WorkerDisconnected{w1});
    w1 = world.Connect("w1", kOneCpu);
    if (attempt < 2) {
      EXPECT_EQ(world.TrialAt(e, 0).losses, attempt + 1);
    }
  }
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kFailed);
  EXPECT_EQ(world.TrialAt(e, 0).reason, "lost_repeatedly");
  EXPECT_EQ(world.TrialAt(e, 0).failures, 0);
}

TEST_F(SchedulerAttempt, ACheckpointBindsToItsWorkerUntilThatIsLost) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->resumable = true;
  spec.trial->max_failures = 5;
  Start(spec);
  world.Report(w1, AttemptOf(e, 0), 4, 0.5);
  world.Do(CheckpointReported{w1, 1, AttemptOf(e, 0), 4, "/c/4", 10});
  EXPECT_EQ(world.storage.tables().checkpoints.at({AttemptOf(e, 0), 4}).place, "w1");
  const SessionId w2 = world.Connect("w2", kOneCpu);
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kFailed);
  ASSERT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 1)));
  EXPECT_EQ(world.AttemptAt(e, 0, 1).workers, "w1");
  EXPECT_EQ(world.AttemptAt(e, 0, 1).resume_step, 4);
  world.Do(WorkerDisconnected{w1});
  world.Do(WorkerHeartbeat{w2});
  world.Advance(seconds(29));
  world.Do(WorkerHeartbeat{w2});
  world.Advance(seconds(1));  // w1 is lost: from the start, on w2
  ASSERT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 2)));
  EXPECT_EQ(world.AttemptAt(e, 0, 2).workers, "w2");
  EXPECT_EQ(world.AttemptAt(e, 0, 2).resume_step, 0);
}

TEST_F(SchedulerAttempt, ADamagedCheckpointIsALossAndIsNotTriedAgain) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->resumable = true;
  spec.trial->max_failures = 1;
  Start(spec);
  world.Do(CheckpointReported{w1, 1, AttemptOf(e, 0), 2, "/c/2", 10});
  world.Do(CheckpointReported{w1, 2, AttemptOf(e, 0), 4, "/c/4", 10});
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kFailed);
  EXPECT_EQ(world.AttemptAt(e, 0, 1).resume_step, 4);
  world.Exit(w1, AttemptOf(e, 0, 1), ExitCause::kLost);
  EXPECT_EQ(world.storage.tables().checkpoints.at({AttemptOf(e, 0), 4}).state, "deleted");
  EXPECT_EQ(world.AttemptAt(e, 0, 2).resume_step, 2);
  ASSERT_THAT(world.Commands<StartAttempt>(), SizeIs(1));
  EXPECT_EQ(world.Commands<StartAttempt>()[0].resume_from, "/c/2");
  world.Restart();  // the row says so: not after a restart either
  w1 = world.Connect("w1", kOneCpu, {{AttemptOf(e, 0, 2), AttemptState::kStarting, 0}});
  world.Exit(w1, AttemptOf(e, 0, 2), ExitCause::kLost);
  EXPECT_EQ(world.AttemptAt(e, 0, 3).resume_step, 0);
  EXPECT_EQ(world.TrialAt(e, 0).failures, 1);  // its own, at the beginning
  EXPECT_EQ(world.TrialAt(e, 0).losses, 2);
}

TEST_F(SchedulerAttempt, ATrialWaitsForTheMachineThatHasItsCheckpointAndCouldNotStartIt) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->resumable = true;
  spec.trial->max_failures = 1;
  Start(spec);
  world.Do(CheckpointReported{w1, 1, AttemptOf(e, 0), 4, "/c/4", 10});
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kFailed);
  world.Connect("w2", kOneCpu);
  world.Exit(w1, AttemptOf(e, 0, 1), ExitCause::kCouldNotStart);
  EXPECT_THAT(Started(), IsEmpty());
  EXPECT_EQ(world.TrialAt(e, 0).reason,
            "waiting: its checkpoint is on worker w1, which could not start it, and is tried again "
            "later: the disk is full");
  EXPECT_EQ(world.storage.tables().checkpoints.at({AttemptOf(e, 0), 4}).state, "stored");
  world.Advance(seconds(10));
  ASSERT_THAT(Started(), ElementsAre(AttemptOf(e, 0, 2)));
  EXPECT_EQ(world.AttemptAt(e, 0, 2).resume_step, 4);
}

TEST_F(SchedulerAttempt, ASharedCheckpointResumesAnywhere) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->resumable = true;
  spec.trial->checkpoint_root = "/shared";
  Start(spec);
  world.Do(CheckpointReported{w1, 1, AttemptOf(e, 0), 4, "/shared/4", 10});
  EXPECT_EQ(world.storage.tables().checkpoints.at({AttemptOf(e, 0), 4}).place, "shared");
  world.Do(WorkerDisconnected{w1});
  world.Advance(seconds(30));
  world.Connect("w2", kOneCpu);
  ASSERT_THAT(world.Commands<StartAttempt>(), SizeIs(1));
  EXPECT_EQ(world.Commands<StartAttempt>()[0].resume_from, "/shared/4");
}

TEST_F(SchedulerAttempt, ACheckpointIsStoredOnceAndOfCurrentAttemptsOnly) {
  Start(FifoSpecOf(1));
  world.Do(CheckpointReported{w1, 1, AttemptOf(e, 0), 4, "/c/4", 10});
  world.Do(CheckpointReported{w1, 2, AttemptOf(e, 0), 4, "/c/4", 10});
  EXPECT_EQ(world.Commands<AcknowledgeCheckpoint>().at(0).error, "");
  world.Do(CheckpointReported{w1, 3, AttemptOf(e, 0), 4, "/c/other", 10});
  EXPECT_THAT(world.Commands<AcknowledgeCheckpoint>().at(0).error, HasSubstr("already, at /c/4"));
  world.Do(CheckpointReported{w1, 4, AttemptOf(e, 0, 7), 4, "/c/4", 10});
  EXPECT_THAT(world.Commands<AcknowledgeCheckpoint>().at(0).error, HasSubstr("no longer current"));
  EXPECT_THAT(world.storage.tables().checkpoints, SizeIs(1));
}

TEST_F(SchedulerAttempt, NothingWorksPausesAfterFiveFailedTrials) {
  Start(FifoSpecOf(100));
  for (int32_t number = 0; number < 5; ++number) {
    EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kActive);
    world.Exit(w1, AttemptOf(e, number), ExitCause::kFailed);
  }
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kPaused);
  EXPECT_EQ(world.ExperimentAt(e).reason, "nothing_works");
  EXPECT_THAT(Started(), IsEmpty());
  EXPECT_EQ(world.TrialAt(e, 5).state, TrialState::kQueued);  // it waited ahead
  EXPECT_EQ(world.TrialAt(e, 5).reason, "waiting: its experiment is paused (nothing_works)");
}

TEST_F(SchedulerAttempt, AStoredReportMeansThatSomethingWorks) {
  Start(FifoSpecOf(7));
  world.Report(w1, AttemptOf(e, 0), 1, 0.5);
  for (int32_t number = 0; number < 6; ++number) {
    world.Exit(w1, AttemptOf(e, number), ExitCause::kFailed);
  }
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kActive);
}

TEST_F(SchedulerAttempt, MaxFailedTrialsPauses) {
  ExperimentSpec spec = FifoSpecOf(9);
  spec.limits.max_failed_trials = 2;
  Start(spec);
  world.Report(w1, AttemptOf(e, 0), 1, 0.5);
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kFailed);
  world.Exit(w1, AttemptOf(e, 1), ExitCause::kFailed);
  EXPECT_EQ(world.ExperimentAt(e).reason, "max_failed_trials");
}

TEST_F(SchedulerAttempt, TheDeadlineStopsAnExperimentAlsoAfterARestart) {
  ExperimentSpec spec = FifoSpecOf(9);
  spec.limits.deadline = seconds(20);
  Start(spec, kTwoCpus);
  world.Advance(seconds(10));
  world.Restart();
  w1 = world.Connect("w1", kTwoCpus, {{AttemptOf(e, 0)}, {AttemptOf(e, 1)}});
  world.Advance(seconds(9));
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kActive);
  world.Advance(seconds(1));
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kStopping);
  EXPECT_THAT(world.Commands<StopAttempt>(), SizeIs(2));
  for (int32_t number = 0; number < 3; ++number) {  // two running, one waiting ahead
    EXPECT_EQ(world.TrialAt(e, number).state, TrialState::kCancelled);
    EXPECT_EQ(world.TrialAt(e, number).reason, "deadline");
  }
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kStopped);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kStopping);
  world.Exit(w1, AttemptOf(e, 1), ExitCause::kStopped);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kStopped);
  EXPECT_EQ(world.ExperimentAt(e).reason, "deadline");
}

TEST_F(SchedulerAttempt, GpuHoursStopAnExperiment) {
  ExperimentSpec spec = FifoSpecOf(9);
  spec.trial->per_process.gpus = 2;
  spec.limits.gpu_hours = 1;  // two GPUs for half an hour
  w1 = world.Connect("w1", {.milli_cpus = 1000, .memory_bytes = 0, .gpus = 2});
  e = world.Create(spec);
  for (int minute = 0; minute < 30; ++minute) {
    EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kActive);
    for (int half = 0; half < 3; ++half) {
      world.Do(WorkerHeartbeat{w1});
      world.Advance(seconds(20));
    }
  }
  EXPECT_EQ(world.ExperimentAt(e).reason, "gpu_hours");
}

TEST_F(SchedulerAttempt, MaxConcurrentIsKept) {
  ExperimentSpec spec = FifoSpecOf(9);
  spec.limits.max_concurrent = 2;
  Start(spec, {.milli_cpus = 8000, .memory_bytes = 0, .gpus = 0});
  EXPECT_THAT(Started(), SizeIs(2));
  EXPECT_THAT(world.TrialAt(e, 2).reason, HasSubstr("limits.max_concurrent"));
  world.Exit(w1, AttemptOf(e, 0));
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 2)));
}

TEST_F(SchedulerAttempt, TwoExperimentsShareByFewerSlots) {
  Start(FifoSpecOf(9), {.milli_cpus = 4000, .memory_bytes = 0, .gpus = 0});
  EXPECT_THAT(Started(), SizeIs(4));
  const ExperimentId second = world.Create(FifoSpecOf(9));
  world.Exit(w1, AttemptOf(e, 0));
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(second, 0)));
  world.Exit(w1, AttemptOf(e, 1));
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(second, 1)));
  world.Exit(w1, AttemptOf(e, 2));  // 1 against 2 slots in use
  EXPECT_THAT(Started(), ElementsAre(AttemptOf(e, 4)));
}

TEST_F(SchedulerAttempt, StartCarriesWhatTheTrialNeeds) {
  ExperimentSpec spec = FifoSpecOf(2);
  spec.trial->env = {{"A", "b"}};
  Start(spec, kTwoCpus);
  const std::vector<StartAttempt> starts = world.Commands<StartAttempt>();
  ASSERT_THAT(starts, SizeIs(2));
  EXPECT_EQ(starts[0].experiment_name, "e");
  EXPECT_EQ(starts[0].params, world.TrialAt(e, 0).params);
  EXPECT_EQ(starts[0].trial.env, spec.trial->env);
  EXPECT_NE(starts[0].seed, starts[1].seed);
  EXPECT_GE(starts[0].seed, 0);
  EXPECT_LT(starts[0].seed, int64_t{1} << 31);
}

}  // namespace
}  // namespace rung
