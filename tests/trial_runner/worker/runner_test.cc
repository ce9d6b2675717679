#include "trial_runner/worker/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung::worker {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

AttemptId Id(int32_t trial, int32_t attempt = 0) {
  return {.trial = {.experiment = {1}, .number = {trial}}, .attempt = attempt};
}

AttemptSpec Spec(int32_t trial, int32_t processes = 1) {
  return {.attempt = Id(trial), .command = {"train"}, .processes = processes};
}

class RunnerTest : public ::testing::Test {
 protected:
  const Effects& Do(const Event& event) {
    effects_ = runner_.Step(event, now_);
    return effects_;
  }
  const Effects& Pass(milliseconds time) {
    now_ += time;
    return Do(Tick{});
  }
  template <typename T>
  std::vector<T> Of() const {
    std::vector<T> found;
    for (const Effect& effect : effects_) {
      if (const T* match = std::get_if<T>(&effect)) found.push_back(*match);
    }
    return found;
  }
  std::vector<int32_t> Terminated() const {
    std::vector<int32_t> ranks;
    for (const TerminateRank& e : Of<TerminateRank>()) ranks.push_back(e.rank);
    return ranks;
  }
  std::vector<int32_t> Killed() const {
    std::vector<int32_t> ranks;
    for (const KillRank& e : Of<KillRank>()) ranks.push_back(e.rank);
    return ranks;
  }
  void Connect(std::vector<AttemptId> keep = {}) {
    Do(SchedulerConnected{});
    Do(Welcomed{std::move(keep)});
  }
  void Run(const AttemptSpec& spec) {
    Do(StartAttempt{spec});
    for (int32_t rank = 0; rank < spec.processes; ++rank) Do(RankStarted{spec.attempt, rank});
  }
  void Exit(AttemptId id, int32_t rank, int32_t code, int32_t signal = 0) {
    Do(RankExited{id, rank, code, signal});
  }
  void Gone(AttemptId id, int32_t rank, std::string tail = "") {
    Do(RankGone{id, rank, std::move(tail)});
  }
  /// A report whose request and report have the numbers given by the order of calls, from 1.
  void Report(AttemptId id, int32_t rank, Steps step) {
    Do(RankReport{id, rank, {++requests_}, step, {{.name = "loss", .value = 1}}});
  }
  void Answer(AttemptId id, Steps step, std::vector<uint64_t> ids, Decision decision,
              milliseconds grace = milliseconds(30'000)) {
    Do(ReportAnswered{.attempt = id,
                      .step = step,
                      .report_ids = std::move(ids),
                      .decision = decision,
                      .grace = grace});
  }
  TellExited OnlyExit() const {
    const std::vector<TellExited> exits = Of<TellExited>();
    EXPECT_THAT(exits, SizeIs(1));
    return exits.empty() ? TellExited{} : exits[0];
  }

  MonoTime now_{};
  Runner runner_{{.milli_cpus = 4000, .memory_bytes = 0, .gpus = 2}, Limits{}};
  Effects effects_;
  uint64_t requests_ = 0;
};

// ---- start ----

TEST_F(RunnerTest, StartIsToldWhenEveryRankIsUp) {
  Connect();
  Do(StartAttempt{Spec(1, 2)});
  ASSERT_THAT(Of<LaunchGang>(), SizeIs(1));
  EXPECT_THAT(Do(RankStarted{Id(1), 1}), IsEmpty());
  Do(RankStarted{Id(1), 0});
  EXPECT_THAT(Of<TellStarted>(), SizeIs(1));
}

TEST_F(RunnerTest, RepeatedStartChangesNothing) {
  Connect();
  Run(Spec(1));
  EXPECT_THAT(Do(StartAttempt{Spec(1)}), IsEmpty());
}

TEST_F(RunnerTest, RankThatCannotStartEndsItsGang) {
  Connect();
  Do(StartAttempt{Spec(1, 3)});
  Do(RankStarted{Id(1), 0});
  Do(RankCouldNotStart{Id(1), 1, ExitCause::kFailed, "program 'x': No such file"});
  EXPECT_THAT(Killed(), ElementsAre(0, 2));
  Exit(Id(1), 0, 0, 9);
  Gone(Id(1), 0);
  EXPECT_THAT(Of<TellExited>(), IsEmpty());
  Gone(Id(1), 2);
  EXPECT_THAT(Of<CloseAttempt>(), SizeIs(1));
  const TellExited exit = OnlyExit();
  EXPECT_EQ(exit.cause, ExitCause::kFailed);
  EXPECT_EQ(exit.message, "rank 1: program 'x': No such file");
  EXPECT_EQ(exit.exit_code, std::nullopt);
  EXPECT_EQ(exit.failed_rank, -1);
}

TEST_F(RunnerTest, LaunchThatFailedIsTheExitWithItsCause) {
  Connect();
  int32_t trial = 0;
  for (const ExitCause cause :
       {ExitCause::kRefused, ExitCause::kLost, ExitCause::kFailed, ExitCause::kCouldNotStart}) {
    Do(StartAttempt{Spec(++trial)});
    Do(LaunchFailed{Id(trial), cause, "there is no '/x' here"});
    const TellExited exit = OnlyExit();
    EXPECT_EQ(exit.cause, cause);
    EXPECT_THAT(exit.message, HasSubstr("'/x'"));
    EXPECT_THAT(Of<CloseAttempt>(), SizeIs(1));
  }
}

TEST_F(RunnerTest, LaunchThatAStopEndedIsNoFault) {
  Connect();
  Do(StartAttempt{Spec(1)});
  Do(StopAttempt{.attempt = Id(1), .at_once = true});
  EXPECT_THAT(Terminated(), ElementsAre(0));
  Do(LaunchFailed{Id(1), ExitCause::kCouldNotStart, "it was ended before it was started"});
  EXPECT_EQ(OnlyExit().cause, ExitCause::kStopped);
  EXPECT_EQ(OnlyExit().exit_code, std::nullopt);
}

TEST_F(RunnerTest, CpusAndGpusAreNeverOversubscribed) {
  Connect();
  AttemptSpec gpus = Spec(1, 2);
  gpus.per_process.gpus = 1;
  Run(gpus);
  AttemptSpec waits = Spec(2);
  waits.per_process.gpus = 1;  // both GPUs are held
  EXPECT_THAT(Do(StartAttempt{waits}), IsEmpty());
  AttemptSpec cpus = Spec(3);
  cpus.per_process.milli_cpus = 2001;  // 2000 of 4000 are held
  EXPECT_THAT(Do(StartAttempt{cpus}), IsEmpty());
  Exit(Id(1), 0, 0);
  Gone(Id(1), 0);
  EXPECT_THAT(Of<LaunchGang>(), IsEmpty());  // a gang frees its GPUs as a whole
  Exit(Id(1), 1, 0);
  Gone(Id(1), 1);
  EXPECT_THAT(Of<LaunchGang>(), SizeIs(2));
}

TEST_F(RunnerTest, AttemptThatNeverFitsCouldNotStart) {
  Connect();
  AttemptSpec spec = Spec(1, 3);
  spec.per_process.gpus = 1;
  Do(StartAttempt{spec});
  Pass(milliseconds(60'000));
  EXPECT_EQ(OnlyExit().cause, ExitCause::kCouldNotStart);
}

// ---- ends ----

TEST_F(RunnerTest, ExitZeroOfEveryRankIsCompleted) {
  Connect();
  Run(Spec(1, 2));
  Exit(Id(1), 0, 0);
  EXPECT_THAT(Of<TellRankExited>(), SizeIs(1));
  Gone(Id(1), 0);
  Exit(Id(1), 1, 0);
  Gone(Id(1), 1);
  const TellExited exit = OnlyExit();
  EXPECT_EQ(exit.cause, ExitCause::kCompleted);
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_EQ(exit.failed_rank, -1);
  EXPECT_TRUE(runner_.NoProcessLeft());
}

TEST_F(RunnerTest, FailedRankEndsItsPeersAtOnceAndKillsThemAfterFailureGrace) {
  Connect();
  Run(Spec(1, 3));
  Exit(Id(1), 1, 3);
  EXPECT_THAT(Terminated(), ElementsAre(0, 2));  // in the very same step
  Gone(Id(1), 1, "Traceback");
  Exit(Id(1), 0, 0, 15);
  Gone(Id(1), 0, "terminated");
  Pass(milliseconds(1'999));
  EXPECT_THAT(Killed(), IsEmpty());
  Pass(milliseconds(1));
  EXPECT_THAT(Killed(), ElementsAre(2));
  Exit(Id(1), 2, 0, 9);
  Gone(Id(1), 2, "killed");
  const TellExited exit = OnlyExit();
  EXPECT_EQ(exit.cause, ExitCause::kFailed);
  EXPECT_EQ(exit.failed_rank, 1);
  EXPECT_EQ(exit.exit_code, 3);
  EXPECT_EQ(exit.message, "rank 1 exited with status 3");
  EXPECT_THAT(exit.stderr_tails, ElementsAre(std::pair<int32_t, std::string>(1, "Traceback")));
}

TEST_F(RunnerTest, SignalThatWeDidNotSendIsAFailure) {
  Connect();
  Run(Spec(1));
  Exit(Id(1), 0, 0, 11);
  Gone(Id(1), 0);
  const TellExited exit = OnlyExit();
  EXPECT_EQ(exit.cause, ExitCause::kFailed);
  EXPECT_EQ(exit.exit_code, 128 + 11);
  EXPECT_EQ(exit.message, "rank 0 was ended by signal 11");
}

TEST_F(RunnerTest, ExitComesAfterTheAnswersToAllReports) {
  Connect();
  Run(Spec(1));
  Report(Id(1), 0, 1);
  Exit(Id(1), 0, 0);
  Gone(Id(1), 0);
  EXPECT_THAT(Of<TellExited>(), IsEmpty());
  Answer(Id(1), 1, {1}, Decision::kContinue);
  EXPECT_EQ(OnlyExit().cause, ExitCause::kCompleted);
}

TEST_F(RunnerTest, ReportThatIsNeverAnsweredHoldsTheExitOnlyForAWhile) {
  Connect();
  Run(Spec(1));
  Report(Id(1), 0, 1);
  Exit(Id(1), 0, 0);
  Gone(Id(1), 0);
  Pass(milliseconds(10'000));
  EXPECT_THAT(Of<TellReport>(), SizeIs(1));  // sent again, before the exit
  EXPECT_THAT(Of<TellExited>(), SizeIs(1));
  EXPECT_EQ(effects_.back().index(), Effect(TellExited{}).index());
}

TEST_F(RunnerTest, ExitIsRepeatedUntilAcknowledged) {
  Connect();
  Run(Spec(1));
  Exit(Id(1), 0, 0);
  Gone(Id(1), 0);
  EXPECT_THAT(Of<TellExited>(), SizeIs(1));
  Pass(milliseconds(10'000));
  EXPECT_THAT(Of<TellExited>(), SizeIs(1));
  Do(SchedulerLost{});
  Pass(milliseconds(60'000));
  EXPECT_THAT(Of<TellExited>(), IsEmpty());
  Connect({Id(1)});
  EXPECT_THAT(Of<TellExited>(), SizeIs(1));
  Do(ExitAcknowledged{Id(1)});
  Pass(milliseconds(60'000));
  EXPECT_THAT(effects_, IsEmpty());
  EXPECT_EQ(runner_.NextDeadline(), std::nullopt);
}

// ---- stops ----

TEST_F(RunnerTest, DecisionWaitsItsGraceThenSigtermThenGraceThenSigkill) {
  Connect();
  AttemptSpec spec = Spec(1);
  spec.grace = milliseconds(5'000);
  Run(spec);
  Report(Id(1), 0, 10);
  Answer(Id(1), 10, {1}, Decision::kStop, milliseconds(600'000));  // finish_grace, after max_t
  EXPECT_EQ(Of<AnswerDecision>().at(0).decision, Decision::kStop);
  Pass(milliseconds(599'999));
  EXPECT_THAT(Terminated(), IsEmpty());
  Pass(milliseconds(1));
  EXPECT_THAT(Terminated(), ElementsAre(0));
  Pass(milliseconds(4'999));
  EXPECT_THAT(Killed(), IsEmpty());
  Pass(milliseconds(1));
  EXPECT_THAT(Killed(), ElementsAre(0));
  Exit(Id(1), 0, 0, 9);
  Gone(Id(1), 0);
  EXPECT_EQ(OnlyExit().cause, ExitCause::kStopped);
}

TEST_F(RunnerTest, TrialThatEndsAfterAStopDecisionIsStoppedWhateverItsStatus) {
  Connect();
  for (const int32_t code : {0, 1}) {
    Run(Spec(code));
    Report(Id(code), 0, 10);
    Answer(Id(code), 10, {requests_}, Decision::kPause);
    Exit(Id(code), 0, code);
    Gone(Id(code), 0);
    EXPECT_EQ(OnlyExit().cause, ExitCause::kStopped);
    EXPECT_EQ(OnlyExit().failed_rank, -1);
  }
}

TEST_F(RunnerTest, RankThatFailsAfterAStopDecisionEndsItsPeers) {
  Connect();
  Run(Spec(1, 3));
  Report(Id(1), 0, 10);
  Answer(Id(1), 10, {1}, Decision::kStop, milliseconds(600'000));  // finish_grace
  Exit(Id(1), 2, 0);
  EXPECT_THAT(Terminated(), IsEmpty());
  Exit(Id(1), 1, 0, 9);
  EXPECT_THAT(Terminated(), ElementsAre(0));    // it would wait for rank 1
  Pass(milliseconds(2'000));                    // failure_grace
  EXPECT_THAT(Killed(), ElementsAre(0, 1, 2));  // and what the others left
  Exit(Id(1), 0, 0, 9);
  for (const int32_t rank : {0, 1, 2}) Gone(Id(1), rank);
  EXPECT_EQ(OnlyExit().cause, ExitCause::kStopped);
  EXPECT_EQ(OnlyExit().failed_rank, -1);
}

TEST_F(RunnerTest, StopAtOnceStartsAtSigterm) {
  Connect();
  Run(Spec(1, 2));
  Do(StopAttempt{.attempt = Id(1), .grace = milliseconds(3'000), .at_once = true});
  EXPECT_THAT(Terminated(), ElementsAre(0, 1));
  Pass(milliseconds(3'000));
  EXPECT_THAT(Killed(), ElementsAre(0, 1));
}

TEST_F(RunnerTest, StopAtOnceShortensAGraceThatIsRunning) {
  Connect();
  Run(Spec(1));
  Report(Id(1), 0, 10);
  Answer(Id(1), 10, {1}, Decision::kStop, milliseconds(600'000));
  Do(StopAttempt{.attempt = Id(1), .grace = milliseconds(1'000), .at_once = true});
  EXPECT_THAT(Terminated(), ElementsAre(0));
  Pass(milliseconds(1'000));
  EXPECT_THAT(Killed(), ElementsAre(0));
}

TEST_F(RunnerTest, LaterStopNeverLengthensAGrace) {
  Connect();
  Run(Spec(1));
  Do(StopAttempt{.attempt = Id(1), .grace = milliseconds(1'000), .at_once = true});
  Do(StopAttempt{.attempt = Id(1), .grace = milliseconds(9'000)});
  Pass(milliseconds(1'000));
  EXPECT_THAT(Killed(), ElementsAre(0));
}

TEST_F(RunnerTest, StopAnswersTheNextReport) {
  Connect();
  Run(Spec(1));
  Do(StopAttempt{.attempt = Id(1)});
  Report(Id(1), 0, 1);
  Answer(Id(1), 1, {1}, Decision::kContinue);
  EXPECT_EQ(Of<AnswerDecision>().at(0).decision, Decision::kStop);
}

TEST_F(RunnerTest, PauseThatWasNotHeardIsAPauseAfterAReconnect) {
  Connect();
  Run(Spec(1));
  Report(Id(1), 0, 10);
  Do(SchedulerLost{});  // with the answer
  Connect({Id(1)});
  Do(StopAttempt{.attempt = Id(1), .decision = Decision::kPause});  // right behind the welcome
  EXPECT_THAT(Of<AnswerDecision>(), IsEmpty());                     // not before it is durable
  Answer(Id(1), 10, {1}, Decision::kPause);
  EXPECT_EQ(Of<AnswerDecision>().at(0).decision, Decision::kPause);
}

TEST_F(RunnerTest, StopOfAnAttemptThatWaitsForResourcesNeverLaunchesIt) {
  Connect();
  AttemptSpec big = Spec(1);
  big.per_process.milli_cpus = 4000;
  Run(big);
  Do(StartAttempt{Spec(2)});
  Do(StopAttempt{.attempt = Id(2)});
  EXPECT_EQ(OnlyExit().cause, ExitCause::kStopped);
  EXPECT_EQ(OnlyExit().exit_code, std::nullopt);
  EXPECT_THAT(Of<CloseAttempt>(), IsEmpty());
}

// ---- sessions ----

TEST_F(RunnerTest, WithoutASchedulerTrialsGoOnAndEverythingIsToldLater) {
  Connect();
  Run(Spec(1));
  Do(SchedulerLost{});
  Report(Id(1), 0, 1);
  EXPECT_THAT(Of<TellReport>(), IsEmpty());
  Pass(milliseconds(3'600'000));
  EXPECT_EQ(Of<AnswerDecision>().at(0).durable, false);
  EXPECT_THAT(Killed(), IsEmpty());
  Report(Id(1), 0, 2);
  Do(SchedulerConnected{});
  ASSERT_THAT(Of<SayHello>(), SizeIs(1));
  EXPECT_THAT(Of<TellReport>(), IsEmpty());  // not before the welcome
  const HeldAttempt held = Of<SayHello>()[0].held.at(0);
  EXPECT_EQ(held.attempt, Id(1));
  EXPECT_EQ(held.state, AttemptState::kRunning);
  Do(Welcomed{{Id(1)}});
  const std::vector<TellReport> reports = Of<TellReport>();
  ASSERT_THAT(reports, SizeIs(2));
  EXPECT_EQ(reports[0].step, 1);
  EXPECT_EQ(reports[1].step, 2);
}

TEST_F(RunnerTest, HelloNamesTheLastStoredStep) {
  Connect();
  Run(Spec(1));
  Report(Id(1), 0, 7);
  Answer(Id(1), 7, {1}, Decision::kContinue);
  Do(SchedulerConnected{});
  EXPECT_EQ(Of<SayHello>().at(0).held.at(0).last_stored_step, 7);
}

TEST_F(RunnerTest, AttemptThatIsNotKeptIsKilledWithoutAReport) {
  Connect();
  Run(Spec(1, 2));
  Do(SchedulerLost{});
  Report(Id(1), 0, 1);
  Connect({});
  EXPECT_THAT(Killed(), ElementsAre(0, 1));
  EXPECT_THAT(Of<TellReport>(), IsEmpty());
  for (const int32_t rank : {0, 1}) {
    Exit(Id(1), rank, 0, 9);
    Gone(Id(1), rank);
    EXPECT_THAT(Of<TellExited>(), IsEmpty());
  }
  EXPECT_THAT(Of<CloseAttempt>(), SizeIs(1));
  Do(SchedulerConnected{});
  EXPECT_THAT(Of<SayHello>().at(0).held, IsEmpty());
}

TEST_F(RunnerTest, ResourcesOfADiscardedAttemptAreUsedOnlyWhenItIsGone) {
  Connect();
  AttemptSpec big = Spec(1);
  big.per_process.milli_cpus = 4000;
  Run(big);
  Connect({});
  AttemptSpec next = big;
  next.attempt = Id(1, 1);
  Do(StartAttempt{next});
  EXPECT_THAT(Of<LaunchGang>(), IsEmpty());
  Exit(Id(1), 0, 0, 9);
  Gone(Id(1), 0);
  ASSERT_THAT(Of<LaunchGang>(), SizeIs(1));
  EXPECT_EQ(Of<LaunchGang>()[0].spec.attempt, Id(1, 1));
}

TEST_F(RunnerTest, ExitedAttemptThatIsNotKeptIsForgotten) {
  Connect();
  Run(Spec(1));
  Do(SchedulerLost{});
  Exit(Id(1), 0, 0);
  Gone(Id(1), 0);
  Connect({});
  EXPECT_THAT(effects_, IsEmpty());
  EXPECT_EQ(runner_.NextDeadline(), std::nullopt);
}

// ---- checkpoints ----

TEST_F(RunnerTest, CheckpointIsStoredWhenAcknowledged) {
  Connect();
  Run(Spec(1));
  Do(CheckpointWritten{Id(1), {5}, 10, "/c/step-10", 99});
  const TellCheckpoint told = Of<TellCheckpoint>().at(0);
  EXPECT_EQ(told.path, "/c/step-10");
  EXPECT_EQ(told.bytes, 99);
  Do(CheckpointAcknowledged{.report_id = told.report_id, .attempt = Id(1)});
  EXPECT_EQ(Of<AnswerStored>().at(0).request, RequestId{5});
}

TEST_F(RunnerTest, RefusedCheckpointIsAnError) {
  Connect();
  Run(Spec(1));
  Do(CheckpointWritten{Id(1), {5}, 10, "/c/step-10", 99});
  Do(CheckpointAcknowledged{.report_id = 1, .attempt = Id(1), .error = "no such trial"});
  EXPECT_EQ(Of<AnswerError>().at(0).error, "no such trial");
}

TEST_F(RunnerTest, CheckpointSurvivesAnOutageAndPrecedesTheExit) {
  Connect();
  Run(Spec(1));
  Do(SchedulerLost{});
  Do(CheckpointWritten{Id(1), {5}, 10, "/c/step-10", 99});
  Exit(Id(1), 0, 0);
  Gone(Id(1), 0);
  Connect({Id(1)});
  EXPECT_THAT(Of<TellCheckpoint>(), SizeIs(1));
  EXPECT_THAT(Of<TellExited>(), IsEmpty());
  Do(CheckpointAcknowledged{.report_id = 1, .attempt = Id(1)});
  EXPECT_THAT(Of<TellExited>(), SizeIs(1));
}

// ---- the end of the daemon ----

TEST_F(RunnerTest, ShutdownEndsTrialsWithinABoundAndTellsNoExit) {
  Connect();
  AttemptSpec spec = Spec(1);
  spec.grace = milliseconds(3'600'000);
  Run(spec);
  Do(ShutdownRequested{});
  EXPECT_THAT(Terminated(), ElementsAre(0));
  Pass(milliseconds(30'000));
  EXPECT_THAT(Killed(), ElementsAre(0));
  EXPECT_FALSE(runner_.NoProcessLeft());
  Exit(Id(1), 0, 0, 9);
  Gone(Id(1), 0);
  EXPECT_THAT(Of<TellExited>(), IsEmpty());  // the scheduler is to see it lost and queue it again
  EXPECT_TRUE(runner_.NoProcessLeft());
  EXPECT_THAT(Do(StartAttempt{Spec(2)}), IsEmpty());
}

TEST_F(RunnerTest, ShutdownWaitsUntilTheExitsThatCameBeforeAreAcknowledged) {
  Connect();
  Run(Spec(1));
  Do(SchedulerLost{});
  Report(Id(1), 0, 1);
  Exit(Id(1), 0, 0);
  Gone(Id(1), 0);
  Do(ShutdownRequested{});
  EXPECT_TRUE(runner_.NoProcessLeft());
  EXPECT_FALSE(runner_.MayEnd());
  Connect({Id(1)});
  EXPECT_THAT(Of<TellReport>(), SizeIs(1));
  Answer(Id(1), 1, {1}, Decision::kContinue);
  EXPECT_EQ(OnlyExit().cause, ExitCause::kCompleted);
  EXPECT_FALSE(runner_.MayEnd());
  Do(ExitAcknowledged{Id(1)});
  EXPECT_TRUE(runner_.MayEnd());
}

TEST_F(RunnerTest, ShutdownLeavesAnExitThatNobodyHearsAfterAWhile) {
  Connect();
  Run(Spec(1));
  Do(SchedulerLost{});
  Exit(Id(1), 0, 0);
  Gone(Id(1), 0);
  Do(ShutdownRequested{});
  EXPECT_EQ(runner_.NextDeadline(), now_ + milliseconds(10'000));
  Pass(milliseconds(9'999));
  EXPECT_FALSE(runner_.MayEnd());
  Pass(milliseconds(1));
  EXPECT_TRUE(runner_.MayEnd());
  EXPECT_THAT(Of<LogWarning>(), SizeIs(1));
  EXPECT_EQ(runner_.NextDeadline(), std::nullopt);
}

TEST_F(RunnerTest, TrialThatEndedRightBeforeTheShutdownIsTold) {
  Connect();
  Run(Spec(1));
  Exit(Id(1), 0, 0);  // its helpers are still being killed
  Do(ShutdownRequested{});
  EXPECT_THAT(Terminated(), IsEmpty());
  Gone(Id(1), 0);
  EXPECT_EQ(OnlyExit().cause, ExitCause::kCompleted);
}

TEST_F(RunnerTest, EventsOfUnknownAttemptsAreIgnored) {
  Connect();
  EXPECT_THAT(Do(StopAttempt{.attempt = Id(9)}), IsEmpty());
  EXPECT_THAT(Do(RankExited{Id(9), 0, 1, 0}), IsEmpty());
  EXPECT_THAT(Do(ExitAcknowledged{Id(9)}), IsEmpty());
  Run(Spec(1));
  EXPECT_THAT(Do(RankStarted{Id(1), 7}), IsEmpty());
  EXPECT_THAT(Do(ExitAcknowledged{Id(1)}), IsEmpty());  // it runs: nothing to acknowledge
  Exit(Id(1), 0, 0);
  Gone(Id(1), 0);
  EXPECT_THAT(Of<TellExited>(), SizeIs(1));
}

}  // namespace
}  // namespace rung::worker
