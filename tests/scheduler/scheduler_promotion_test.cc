#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/scheduler/scheduler_world.h"

/// Trials that pause at levels 1 and 3 and end at 9; of three at a level one goes on. The loss is
/// minimised.
namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kPromotion = AshaSpec::Variant::kPromotion;

Resources Cpus(int32_t count) { return {.milli_cpus = 1000 * count, .memory_bytes = 0, .gpus = 0}; }

void ExpectARestartWouldChangeNothing(const World& world) {
  World copy = world.CopyRestored();
  EXPECT_EQ(copy.Describe(), world.Describe());
}

class SchedulerPromotion : public testing::Test {
 protected:
  /// One worker with `cpus` and an experiment of `trials`.
  void Begin(int32_t trials, int32_t cpus) {
    w1 = world.Connect("w1", Cpus(cpus));
    e = world.Create(AshaSpecOf(trials, kPromotion));
  }
  AttemptId Attempt(int32_t number, int32_t attempt = 0) { return AttemptOf(e, number, attempt); }
  std::string StateOf(int32_t number) {
    return std::string(ToString(world.TrialAt(e, number).state));
  }
  AttemptState AttemptStateOf(int32_t number, int32_t attempt = 0) {
    return world.AttemptAt(e, number, attempt).state;
  }
  /// The answer to a report: "continue", "pause" or "stop", with its reason.
  std::string Report(AttemptId attempt, Steps step, double loss) {
    const auto answer = world.Report(w1, attempt, step, loss);
    ExpectARestartWouldChangeNothing(world);
    if (!answer) return "no answer";
    const std::string word(ToString(answer->decision));
    return answer->reason.empty() ? word : word + " " + answer->reason;
  }
  void Checkpoint(AttemptId attempt, Steps step) {
    CheckpointReported event;
    event.session = w1;
    event.report_id = ++last_checkpoint;
    event.attempt = attempt;
    event.step = step;
    event.path = "/c/" + ToString(attempt) + "/" + std::to_string(step);
    world.Do(event);
  }
  /// A trial's first level: it reports, and its processes end.
  void PauseAtOne(int32_t number, double loss) {
    EXPECT_EQ(Report(Attempt(number), 1, loss), "pause paused");
    world.Exit(w1, Attempt(number), ExitCause::kStopped);
  }
  std::vector<std::string> Decisions() const {
    std::vector<std::string> words;
    for (const auto& [key, row] : world.storage.tables().decisions) {
      words.push_back(std::to_string(row.trial.value) + " " + row.decision + " " + row.reason +
                      " at " + std::to_string(row.level));
    }
    return words;
  }

  World world;
  SessionId w1;
  ExperimentId e;
  uint64_t last_checkpoint = 0;
};

TEST_F(SchedulerPromotion, APausedTrialKeepsItsResourcesUntilItsProcessesAreGone) {
  Begin(9, 1);
  EXPECT_EQ(Report(Attempt(0), 1, .5), "pause paused");
  EXPECT_EQ(StateOf(0), "paused");
  EXPECT_EQ(world.TrialAt(e, 0).reason, "at level 1");
  EXPECT_EQ(AttemptStateOf(0), AttemptState::kStopping);
  EXPECT_EQ(StateOf(1), "queued");
  world.Exit(w1, Attempt(0), ExitCause::kStopped);
  EXPECT_EQ(StateOf(0), "paused");
  EXPECT_EQ(StateOf(1), "running");
}

TEST_F(SchedulerPromotion, APauseThatWasNotHeardIsStillAPauseAfterAReconnect) {
  Begin(9, 1);
  EXPECT_EQ(Report(Attempt(0), 1, .5), "pause paused");
  world.Do(WorkerDisconnected{w1});  // before the answer arrived
  w1 = world.Connect("w1", Cpus(1), {{Attempt(0), AttemptState::kRunning, 0}});
  ASSERT_THAT(world.Commands<StopAttempt>(), SizeIs(1));
  EXPECT_EQ(world.Commands<StopAttempt>()[0].decision, Decision::kPause);
  EXPECT_FALSE(world.Commands<StopAttempt>()[0].at_once);
  world.Restart();
  w1 = world.Connect("w1", Cpus(1), {{Attempt(0), AttemptState::kRunning, 0}});
  ASSERT_THAT(world.Commands<StopAttempt>(), SizeIs(1));
  EXPECT_EQ(world.Commands<StopAttempt>()[0].decision, Decision::kPause);
  StopExperiment stop;
  stop.reply = world.NextToken();
  stop.experiment = e;
  world.Do(stop);
  ASSERT_THAT(world.Commands<StopAttempt>(), SizeIs(1));
  EXPECT_EQ(world.Commands<StopAttempt>()[0].decision, Decision::kStop);
}

TEST_F(SchedulerPromotion, TheBestOfThreeGoesOnWhereItIsIfItArrivesLast) {
  Begin(9, 1);
  PauseAtOne(0, .5);
  PauseAtOne(1, .4);
  EXPECT_EQ(Report(Attempt(2), 1, .3), "continue promoted_on_arrival");
  EXPECT_EQ(StateOf(2), "running");
  EXPECT_EQ(AttemptStateOf(2), AttemptState::kRunning);
  EXPECT_THAT(Decisions(), ElementsAre("0 pause below_top at 1", "1 pause below_top at 1",
                                       "2 continue promoted_on_arrival at 1",
                                       "2 promote promoted_on_arrival at 1"));
}

TEST_F(SchedulerPromotion, ATrialResumesFromItsNewestCheckpoint) {
  Begin(9, 1);
  EXPECT_EQ(Report(Attempt(0), 1, .1), "pause paused");
  Checkpoint(Attempt(0), 1);
  EXPECT_EQ(Report(Attempt(0), 2, .1), "pause paused");
  Checkpoint(Attempt(0), 2);
  world.Exit(w1, Attempt(0), ExitCause::kStopped);
  PauseAtOne(1, .4);
  // Trial 2 is the worst of three, so what it frees goes to trial 0: before the new trial 3.
  EXPECT_EQ(Report(Attempt(2), 1, .5), "pause paused");
  EXPECT_EQ(StateOf(0), "paused");
  world.Exit(w1, Attempt(2), ExitCause::kStopped);
  const std::vector<StartAttempt> starts = world.Commands<StartAttempt>();
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0].attempt, Attempt(0, 1));
  EXPECT_EQ(starts[0].resume_step, 2);
  EXPECT_EQ(starts[0].resume_from, "/c/1.0.0/2");
  EXPECT_EQ(starts[0].max_step, 9);
  EXPECT_EQ(StateOf(3), "queued");
  EXPECT_THAT(Decisions(), testing::Contains("0 promote promoted at 1"));
}

TEST_F(SchedulerPromotion, AnEarnedPromotionHasAFreeSlotBeforeANewTrial) {
  Begin(9, 3);
  for (int32_t number = 0; number < 3; ++number) {
    EXPECT_EQ(StateOf(number), "running");
  }
  EXPECT_EQ(Report(Attempt(0), 1, .3), "pause paused");
  EXPECT_EQ(Report(Attempt(1), 1, .4), "pause paused");
  world.Exit(w1, Attempt(1), ExitCause::kStopped);
  EXPECT_EQ(StateOf(3), "running");
  world.Exit(w1, Attempt(0), ExitCause::kStopped);
  EXPECT_EQ(StateOf(4), "running");
  EXPECT_EQ(Report(Attempt(2), 1, .5), "pause paused");  // three entries: trial 0 has earned it
  EXPECT_EQ(StateOf(0), "paused");                       // no slot is free yet
  world.Exit(w1, Attempt(2), ExitCause::kStopped);
  EXPECT_EQ(StateOf(0), "running");
  EXPECT_EQ(StateOf(5), "queued");
}

TEST_F(SchedulerPromotion, LostTrialsComeBeforePromotions) {
  Begin(9, 1);
  PauseAtOne(0, .1);
  PauseAtOne(1, .4);
  const SessionId w2 = world.Connect("w2", Cpus(1));
  EXPECT_EQ(StateOf(3), "running");  // on w2
  EXPECT_EQ(Report(Attempt(2), 1, .5), "pause paused");
  world.Exit(w2, Attempt(3), ExitCause::kLost);
  EXPECT_EQ(world.AttemptAt(e, 3, 1).workers, "w2");  // not trial 0, which has earned level 3
  world.Exit(w1, Attempt(2), ExitCause::kStopped);
  EXPECT_EQ(StateOf(0), "running");
}

TEST_F(SchedulerPromotion, APromotedTrialWaitsQueuedUntilItsLastAttemptIsFinal) {
  Begin(9, 2);
  EXPECT_EQ(Report(Attempt(0), 1, .1), "pause paused");  // and its processes take their time
  for (int32_t number = 1; number < 3; ++number) PauseAtOne(number, .4 + .1 * number);
  // The slot of trial 2 was given to trial 0, and as that cannot start yet, to a new trial too.
  EXPECT_EQ(StateOf(0), "queued");
  EXPECT_EQ(world.TrialAt(e, 0).reason, "waiting: for its last attempt to end");
  EXPECT_EQ(AttemptStateOf(0), AttemptState::kStopping);
  EXPECT_EQ(StateOf(3), "running");
  // What it still reports is stored and decides nothing.
  EXPECT_EQ(Report(Attempt(0), 3, .1), "pause paused");
  EXPECT_THAT(Decisions(), SizeIs(4));
  world.Exit(w1, Attempt(0), ExitCause::kStopped);
  EXPECT_EQ(StateOf(0), "running");
  EXPECT_EQ(AttemptStateOf(0, 1), AttemptState::kAssigned);
}

TEST_F(SchedulerPromotion, AReportAfterAPauseIsJudgedAtThePromotion) {
  Begin(4, 1);
  EXPECT_EQ(Report(Attempt(0), 1, .1), "pause paused");
  EXPECT_EQ(Report(Attempt(0), 2, .1), "pause paused");
  EXPECT_EQ(Report(Attempt(0), 4, .05), "pause paused");
  world.Restart();
  w1 = world.Connect("w1", Cpus(1), {{Attempt(0), AttemptState::kStopping, 4}});
  world.Exit(w1, Attempt(0), ExitCause::kStopped);
  PauseAtOne(1, .4);
  PauseAtOne(2, .5);
  // Trial 0 was promoted from level 1, its report of step 4 was judged at level 3, where it waits;
  // the slot went to trial 3.
  EXPECT_THAT(Decisions(), ElementsAre("0 pause below_top at 1", "1 pause below_top at 1",
                                       "2 pause below_top at 1", "0 promote promoted at 1",
                                       "0 pause below_top at 3"));
  EXPECT_EQ(StateOf(0), "paused");
  EXPECT_EQ(world.TrialAt(e, 0).reason, "at level 3");
  EXPECT_EQ(StateOf(3), "running");
}

TEST_F(SchedulerPromotion, ATrialThatReachedTheEndAfterItsPauseCompletesWithoutANewAttempt) {
  Begin(3, 1);
  EXPECT_EQ(Report(Attempt(0), 1, .1), "pause paused");
  EXPECT_EQ(Report(Attempt(0), 9, .08), "pause paused");
  EXPECT_EQ(Report(Attempt(0), 10, .01), "pause paused");
  world.Exit(w1, Attempt(0), ExitCause::kStopped);
  PauseAtOne(1, .4);
  PauseAtOne(2, .5);
  EXPECT_EQ(StateOf(0), "completed");
  EXPECT_EQ(world.TrialAt(e, 0).reason, "max_t");
  EXPECT_EQ(world.TrialAt(e, 0).best_value, .08);  // step 10 is past the end
  EXPECT_THAT(world.storage.tables().attempts, SizeIs(3));
  EXPECT_EQ(StateOf(1), "stopped");
  EXPECT_EQ(world.TrialAt(e, 1).reason, "not_promoted");
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kCompleted);
}

TEST_F(SchedulerPromotion, AStepBeyondTheEndCompletesEvenWithoutTheObjective) {
  Begin(1, 1);
  EXPECT_EQ(Report(Attempt(0), 1, .1), "continue drain");
  EXPECT_EQ(Report(Attempt(0), 3, .1), "continue drain");
  const auto answer = world.Report(w1, Attempt(0), 10, .5, "accuracy");
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->decision, Decision::kStop);
  EXPECT_EQ(StateOf(0), "completed");
}

TEST_F(SchedulerPromotion, AnAttemptLostAfterItsPauseLeavesTheTrialPaused) {
  Begin(3, 1);
  EXPECT_EQ(Report(Attempt(0), 1, .1), "pause paused");
  world.Exit(w1, Attempt(0), ExitCause::kLost);
  EXPECT_EQ(StateOf(0), "paused");
  EXPECT_EQ(world.TrialAt(e, 0).losses, 0);
  EXPECT_EQ(Report(Attempt(1), 1, .4), "pause paused");
  world.Exit(w1, Attempt(1), ExitCause::kFailed);
  EXPECT_EQ(StateOf(1), "paused");
  EXPECT_EQ(world.TrialAt(e, 1).failures, 0);
  PauseAtOne(2, .5);
  EXPECT_EQ(world.AttemptAt(e, 0, 1).resume_step, 0);  // no checkpoint was stored
  // Passing the level again, where it was promoted, decides nothing.
  EXPECT_EQ(Report(Attempt(0, 1), 1, .7), "continue");
  EXPECT_THAT(Decisions(), SizeIs(4));
}

TEST_F(SchedulerPromotion, AResumedTrialSupersedesLaterStepsAndItsPromotionStands) {
  // cases.md 11: attempt 0 went on to step 2 after its pause, its checkpoint is of step 1.
  Begin(4, 1);
  EXPECT_EQ(Report(Attempt(0), 1, .1), "pause paused");
  Checkpoint(Attempt(0), 1);
  EXPECT_EQ(Report(Attempt(0), 2, .01), "pause paused");
  world.Exit(w1, Attempt(0), ExitCause::kStopped);
  PauseAtOne(1, .4);
  PauseAtOne(2, .5);
  EXPECT_EQ(world.AttemptAt(e, 0, 1).resume_step, 1);
  EXPECT_EQ(world.TrialAt(e, 0).best_value, .01);
  EXPECT_EQ(Report(Attempt(0, 1), 1, .9), "continue");  // not above resume_step: not stored
  EXPECT_EQ(world.TrialAt(e, 0).best_value, .01);
  EXPECT_EQ(Report(Attempt(0, 1), 2, .2), "continue");
  EXPECT_EQ(world.TrialAt(e, 0).best_value, .1);  // step 2 of attempt 0 is superseded
  EXPECT_THAT(Decisions(), SizeIs(4));            // level 1 was not decided again
  const auto& metrics = world.storage.tables().metrics;
  EXPECT_THAT(metrics, SizeIs(5));
  EXPECT_EQ(std::ranges::count_if(metrics, [](const auto& m) { return m.second.superseded; }), 1);
  // Lost on the way to level 3, it passes level 1 a third time.
  world.Exit(w1, Attempt(0, 1), ExitCause::kLost);
  EXPECT_EQ(Report(Attempt(0, 2), 2, .3), "continue");
  EXPECT_EQ(Report(Attempt(0, 2), 3, .2), "pause paused");
  EXPECT_THAT(Decisions(), SizeIs(5));
  ExpectARestartWouldChangeNothing(world);
}

TEST_F(SchedulerPromotion, ANonFiniteLossStopsATrialAndItsEntryCountsInN) {
  Begin(4, 1);
  PauseAtOne(0, .5);
  PauseAtOne(1, .4);
  EXPECT_EQ(Report(Attempt(2), 1, -std::numeric_limits<double>::infinity()), "stop non_finite");
  EXPECT_EQ(StateOf(2), "stopped");
  world.Exit(w1, Attempt(2), ExitCause::kStopped);
  EXPECT_EQ(StateOf(1), "running");  // 3 entries, the best finite one goes on
}

TEST_F(SchedulerPromotion, WithWorstATrialOfNanWaitsAndIsNeverPromoted) {
  w1 = world.Connect("w1", Cpus(1));
  ExperimentSpec spec = AshaSpecOf(2, kPromotion);
  std::get<AshaSpec>(spec.scheduler).non_finite = AshaSpec::NonFinite::kWorst;
  e = world.Create(spec);
  PauseAtOne(0, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(StateOf(0), "paused");
  PauseAtOne(1, std::numeric_limits<double>::infinity());
  EXPECT_EQ(StateOf(0), "stopped");
  EXPECT_EQ(world.TrialAt(e, 1).reason, "not_promoted");
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kFailed);
  EXPECT_EQ(world.ExperimentAt(e).reason, "no_trial_completed");
  EXPECT_THAT(Decisions(), ElementsAre("0 pause non_finite at 1", "1 pause non_finite at 1"));
}

TEST_F(SchedulerPromotion, WithIgnoreTheFirstFiniteLossAtOrPastTheLevelCounts) {
  w1 = world.Connect("w1", Cpus(1));
  ExperimentSpec spec = AshaSpecOf(9, kPromotion);
  std::get<AshaSpec>(spec.scheduler).non_finite = AshaSpec::NonFinite::kIgnore;
  e = world.Create(spec);
  EXPECT_EQ(Report(Attempt(0), 1, std::numeric_limits<double>::quiet_NaN()), "continue");
  EXPECT_THAT(Decisions(), IsEmpty());
  EXPECT_EQ(Report(Attempt(0), 2, .5), "pause paused");
  EXPECT_THAT(Decisions(), ElementsAre("0 pause below_top at 1"));
}

TEST_F(SchedulerPromotion, AMetricThatIsNotTheObjectiveDecidesNothing) {
  Begin(9, 1);
  const auto answer = world.Report(w1, Attempt(0), 1, .5, "accuracy");
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->decision, Decision::kContinue);
  EXPECT_THAT(Decisions(), IsEmpty());
  EXPECT_EQ(Report(Attempt(0), 1, .5), "pause paused");  // merged into step 1
}

TEST_F(SchedulerPromotion, OneTrialIsDrainedToTheEndWithoutARestart) {
  Begin(3, 1);
  PauseAtOne(0, .5);
  PauseAtOne(1, .4);
  EXPECT_EQ(Report(Attempt(2), 1, .3), "continue promoted_on_arrival");
  EXPECT_EQ(Report(Attempt(2), 3, .3), "continue drain");  // 1 div 3 = 0 go on
  EXPECT_EQ(Report(Attempt(2), 9, .3), "stop max_t");
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kActive);  // its processes run
  world.Exit(w1, Attempt(2), ExitCause::kStopped);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kCompleted);
  EXPECT_EQ(world.ExperimentAt(e).reason, "trials_exhausted");
  EXPECT_EQ(StateOf(0), "stopped");
  EXPECT_EQ(world.TrialAt(e, 0).reason, "not_promoted");
  EXPECT_TRUE(world.TrialAt(e, 0).ended.has_value());
  EXPECT_THAT(world.storage.tables().attempts, SizeIs(3));
}

TEST_F(SchedulerPromotion, WhenTheDrainedFailTheNextIsTakenAndAtLastTheExperimentFails) {
  Begin(2, 1);
  PauseAtOne(0, .3);
  EXPECT_EQ(Report(Attempt(1), 1, .5), "pause paused");  // trial 0 is the better one to drain
  world.Exit(w1, Attempt(1), ExitCause::kStopped);
  EXPECT_EQ(StateOf(0), "running");
  world.Exit(w1, Attempt(0, 1), ExitCause::kFailed);
  EXPECT_EQ(StateOf(0), "failed");
  EXPECT_EQ(StateOf(1), "running");
  world.Exit(w1, Attempt(1, 1), ExitCause::kFailed);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kFailed);
  EXPECT_EQ(world.ExperimentAt(e).reason, "no_trial_completed");
}

TEST_F(SchedulerPromotion, APausedExperimentIsNotDrained) {
  w1 = world.Connect("w1", Cpus(1));
  ExperimentSpec spec = AshaSpecOf(2, kPromotion);
  spec.limits.max_failed_trials = 1;
  e = world.Create(spec);
  PauseAtOne(0, .3);
  world.Exit(w1, Attempt(1), ExitCause::kFailed);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kPaused);
  EXPECT_EQ(StateOf(0), "paused");
}

TEST_F(SchedulerPromotion, WithIgnoreALateNanAtTheEndDoesNotHideTheLossBehindIt) {
  w1 = world.Connect("w1", Cpus(1));
  ExperimentSpec spec = AshaSpecOf(3, kPromotion);
  std::get<AshaSpec>(spec.scheduler).non_finite = AshaSpec::NonFinite::kIgnore;
  e = world.Create(spec);
  // Trial 0 does not listen: it goes on to R = 9 and beyond after its pause.
  EXPECT_EQ(Report(Attempt(0), 1, .1), "pause paused");
  EXPECT_EQ(Report(Attempt(0), 9, std::numeric_limits<double>::quiet_NaN()), "pause paused");
  EXPECT_EQ(Report(Attempt(0), 10, .01), "pause paused");
  EXPECT_EQ(Report(Attempt(0), 11, .001), "pause paused");
  world.Exit(w1, Attempt(0), ExitCause::kStopped);
  PauseAtOne(1, .4);
  EXPECT_EQ(Report(Attempt(2), 1, .5), "pause paused");
  world.Exit(w1, Attempt(2), ExitCause::kStopped);
  // Promoted, it has ended already: at step 10, the first with a loss that counts.
  EXPECT_EQ(StateOf(0), "completed");
  EXPECT_EQ(world.TrialAt(e, 0).best_value, .01);
  EXPECT_EQ(world.TrialAt(e, 0).best_step, 10);
  ExpectARestartWouldChangeNothing(world);
}

TEST_F(SchedulerPromotion, ATrialAtItsEndIsNotGivenTimeToFinishWhenItsExperimentIsStopped) {
  Begin(2, 2);
  EXPECT_EQ(Report(Attempt(0), 9, .1), "stop max_t");
  const std::vector<AnswerReport> answers = world.Commands<AnswerReport>();
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].grace, std::chrono::minutes(10));
  world.Do(StopExperiment{world.NextToken(), "", e});
  const std::vector<StopAttempt> stops = world.Commands<StopAttempt>();
  ASSERT_THAT(stops, SizeIs(2));
  for (const StopAttempt& stop : stops) {
    EXPECT_TRUE(stop.at_once);
    EXPECT_EQ(stop.grace, std::chrono::seconds(30)) << ToString(stop.attempt);
  }
}

TEST_F(SchedulerPromotion, StoppingAnExperimentCancelsItsPausedTrials) {
  Begin(9, 2);
  PauseAtOne(0, .3);
  EXPECT_EQ(Report(Attempt(1), 1, .4), "pause paused");
  world.Do(StopExperiment{world.NextToken(), "", e});
  EXPECT_EQ(StateOf(0), "cancelled");
  EXPECT_EQ(StateOf(1), "cancelled");
  const std::vector<StopAttempt> stops = world.Commands<StopAttempt>();
  ASSERT_THAT(stops, SizeIs(2));  // trial 1, whose processes are ending, and trial 2
  EXPECT_TRUE(stops[0].at_once);
  EXPECT_EQ(stops[0].reason, "stop_requested");
  ExpectARestartWouldChangeNothing(world);
}

TEST_F(SchedulerPromotion, ACancelledTrialIsNotPromoted) {
  Begin(9, 1);
  PauseAtOne(0, .1);
  world.Do(StopTrial{world.NextToken(), "", {e, {0}}});
  PauseAtOne(1, .4);
  PauseAtOne(2, .5);  // of three entries trial 1 is now the best that may go on
  EXPECT_EQ(StateOf(0), "cancelled");
  EXPECT_EQ(StateOf(1), "running");
  ExpectARestartWouldChangeNothing(world);
}

TEST_F(SchedulerPromotion, AnotherExperimentWithAPriorityGetsWhatATrialFrees) {
  Begin(3, 1);
  PauseAtOne(0, .5);
  PauseAtOne(1, .4);
  ExperimentSpec urgent = FifoSpecOf(1);
  urgent.priority = 5;
  const ExperimentId other = world.Create(urgent);
  EXPECT_EQ(Report(Attempt(2), 1, .3), "pause paused");  // the best of three, but not at once
  world.Exit(w1, Attempt(2), ExitCause::kStopped);
  EXPECT_EQ(world.TrialAt(other, 0).state, TrialState::kRunning);
  EXPECT_THAT(Decisions(), testing::Contains("2 pause awaits_resources at 1"));
  world.Exit(w1, AttemptOf(other, 0));
  EXPECT_EQ(StateOf(2), "running");
}

TEST_F(SchedulerPromotion, MaxConcurrentDoesNotCountTheTrialThatArrives) {
  w1 = world.Connect("w1", Cpus(4));
  ExperimentSpec spec = AshaSpecOf(3, kPromotion);
  spec.limits.max_concurrent = 1;
  e = world.Create(spec);
  PauseAtOne(0, .5);
  PauseAtOne(1, .4);
  EXPECT_EQ(Report(Attempt(2), 1, .3), "continue promoted_on_arrival");
}

/// Trials that run at clients.
class AskTellPromotion : public testing::Test {
 protected:
  void Begin(int32_t trials) {
    ExperimentSpec spec = AshaSpecOf(trials, kPromotion);
    spec.trial.reset();
    e = world.Create(spec);
  }
  std::optional<TrialStarted> Ask() {
    const ReplyToken token = world.NextToken();
    world.Do(StartTrial{token, "", e, "ada"});
    const absl::StatusOr<ReplyValue> reply = world.ReplyTo(token);
    ExpectARestartWouldChangeNothing(world);
    EXPECT_TRUE(reply.ok()) << reply.status();
    const auto* started = std::get_if<TrialStarted>(&*reply);
    if (started == nullptr) return std::nullopt;
    return *started;
  }
  std::string Tell(const TrialStarted& trial, Steps step, double loss) {
    const ReplyToken token = world.NextToken();
    world.Do(ClientReport{token, trial.attempt, step, {{"loss", loss, 1}}});
    const absl::StatusOr<ReplyValue> reply = world.ReplyTo(token);
    ExpectARestartWouldChangeNothing(world);
    if (!reply.ok()) return std::string(reply.status().message());
    const auto& answer = std::get<ReportAnswered>(*reply);
    return std::string(ToString(answer.decision)) + " " + answer.reason;
  }
  void Finish(const TrialStarted& trial) {
    world.Do(FinishTrial{world.NextToken(), "", trial.attempt, /*failed=*/false, ""});
    ExpectARestartWouldChangeNothing(world);
  }
  World world;
  ExperimentId e;
};

TEST_F(AskTellPromotion, APromotedTrialIsHandedOutWithItsLastStep) {
  Begin(4);
  const TrialStarted zero = *Ask();
  EXPECT_EQ(Tell(zero, 1, .1), "pause paused");
  EXPECT_EQ(Tell(zero, 2, .1), "pause paused");
  Finish(zero);
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kPaused);
  const TrialStarted one = *Ask();
  EXPECT_EQ(Tell(one, 1, .4), "pause paused");
  Finish(one);
  const TrialStarted two = *Ask();
  EXPECT_EQ(Tell(two, 1, .5), "pause paused");
  Finish(two);
  const TrialStarted again = *Ask();
  EXPECT_EQ(again.attempt, AttemptOf(e, 0, 1));
  EXPECT_EQ(again.resume_step, 2);
  EXPECT_EQ(again.max_step, 9);
  EXPECT_EQ(Tell(again, 3, .1), "pause paused");
  Finish(again);
  const TrialStarted three = *Ask();
  EXPECT_EQ(three.attempt, AttemptOf(e, 3));
}

TEST_F(AskTellPromotion, WhatAClientWouldFreeGoesOnWithItAndTheRestIsDrained) {
  Begin(3);
  for (const double loss : {.5, .4}) {
    const TrialStarted trial = *Ask();
    EXPECT_EQ(Tell(trial, 1, loss), "pause paused");
    Finish(trial);
  }
  const TrialStarted two = *Ask();
  EXPECT_EQ(Tell(two, 1, .3), "continue promoted_on_arrival");
  EXPECT_EQ(Tell(two, 3, .3), "continue drain");
  EXPECT_EQ(Tell(two, 9, .3), "stop max_t");
  EXPECT_FALSE(Ask().has_value());
  Finish(two);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kCompleted);
  EXPECT_EQ(world.TrialAt(e, 1).reason, "not_promoted");
}

TEST_F(AskTellPromotion, ATrialOfALostClientBeginsAnew) {
  Begin(1);
  const TrialStarted zero = *Ask();
  EXPECT_EQ(Tell(zero, 1, .5), "continue drain");
  world.Advance(std::chrono::seconds(601));
  const TrialStarted again = *Ask();
  EXPECT_EQ(again.attempt, AttemptOf(e, 0, 1));
  EXPECT_EQ(again.resume_step, 0);
  EXPECT_EQ(Tell(again, 1, .4), "continue ");  // decided before, and it went on
}

}  // namespace
}  // namespace rung
