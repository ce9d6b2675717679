#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/scheduler/scheduler_world.h"

/// What a report does (EARLY_STOPPING.md §2).
namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Resources kFourCpus{.milli_cpus = 4000, .memory_bytes = 0, .gpus = 0};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

ExperimentSpec AshaSpecOf(int32_t trials, Steps max_t, Steps grace_period) {
  ExperimentSpec spec = FifoSpecOf(trials);
  AshaSpec asha;
  asha.max_t = max_t;
  asha.grace_period = grace_period;
  asha.reduction_factor = 3;
  spec.scheduler = asha;
  return spec;
}

/// One experiment on one worker with four CPUs, its first trials running.
class SchedulerReport : public testing::Test {
 protected:
  void Start(const ExperimentSpec& spec) {
    w1 = world.Connect("w1", kFourCpus);
    e = world.Create(spec);
  }
  AnswerReport Told(int32_t number, Steps step, double value, const std::string& name = "loss",
                    int32_t attempt = 0) {
    const auto answer = world.Report(w1, AttemptOf(e, number, attempt), step, value, name);
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(AnswerReport{});
  }
  /// The worker is lost and comes back without its attempts.
  void LoseAttempts() {
    world.Do(WorkerDisconnected{w1});
    w1 = world.Connect("w1", kFourCpus, {}, std::to_string(++incarnation_));
  }
  void StoreCheckpoint(int32_t number, Steps step, int32_t attempt = 0) {
    CheckpointReported checkpoint;
    checkpoint.session = w1;
    checkpoint.report_id = 1000 + static_cast<uint64_t>(step);
    checkpoint.attempt = AttemptOf(e, number, attempt);
    checkpoint.step = step;
    checkpoint.path = "/c/step-" + std::to_string(step);
    world.Do(checkpoint);
    ASSERT_THAT(world.Commands<AcknowledgeCheckpoint>(), SizeIs(1));
    EXPECT_EQ(world.Commands<AcknowledgeCheckpoint>()[0].error, "");
  }
  size_t Metrics() const { return world.storage.tables().metrics.size(); }

  World world;
  SessionId w1;
  ExperimentId e;

 private:
  int incarnation_ = 1;
};

TEST_F(SchedulerReport, TheSameValueAgainIsAnsweredAsTheFirstTimeAndStoredOnce) {
  Start(FifoSpecOf(1));
  EXPECT_EQ(Told(0, 3, 0.5).decision, Decision::kContinue);
  const AnswerReport again = Told(0, 3, 0.5);
  EXPECT_EQ(again.decision, Decision::kContinue);
  EXPECT_EQ(again.error, "");
  EXPECT_EQ(Metrics(), 1u);
}

TEST_F(SchedulerReport, NanRepeatedIsTheSameValue) {
  Start(FifoSpecOf(1));
  Told(0, 3, kNan, "other");
  EXPECT_EQ(Told(0, 3, kNan, "other").error, "");
  EXPECT_EQ(Metrics(), 1u);
}

TEST_F(SchedulerReport, AnotherValueOfAStepIsRefusedAndChangesNothing) {
  Start(FifoSpecOf(1));
  Told(0, 3, 0.5);
  const AnswerReport other = Told(0, 3, 0.6);
  EXPECT_THAT(other.error, HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(other.error, HasSubstr("was reported as 0.5 before and now as 0.6"));
  EXPECT_EQ(world.TrialAt(e, 0).best_value, 0.5);
  EXPECT_EQ(Metrics(), 1u);
}

TEST_F(SchedulerReport, ALowerStepIsRefusedWithTheLastAcceptedOne) {
  Start(FifoSpecOf(1));
  Told(0, 3, 0.5);
  EXPECT_THAT(Told(0, 2, 0.6).error, HasSubstr("step 2 of attempt 1.0.0 is below 3"));
  EXPECT_EQ(Metrics(), 1u);
}

TEST_F(SchedulerReport, FurtherNamesAtTheSameStepAreMerged) {
  // cases.md 9: the level is decided by the first report at or past it with the objective.
  Start(AshaSpecOf(4, 100, 10));
  Told(0, 10, 0.4, "train_loss");
  EXPECT_THAT(world.storage.tables().decisions, IsEmpty());
  Told(0, 10, 0.7, "loss");
  EXPECT_THAT(world.storage.tables().decisions, SizeIs(1));
  EXPECT_EQ(Metrics(), 2u);
}

TEST_F(SchedulerReport, MalformedReportsAreRefused) {
  Start(FifoSpecOf(1));
  EXPECT_THAT(Told(0, 0, 0.5).error, HasSubstr("from 1; found 0"));
  EXPECT_THAT(Told(0, 1, 0.5, "").error, HasSubstr("a name must have 1 to 256 bytes, found 0"));
  EXPECT_THAT(Told(0, 1, 0.5, std::string("a\0b", 3)).error, HasSubstr("found U+0000 after 'a'"));
  EXPECT_THAT(world.Report(w1, AttemptOf(e, 0), 1, 0.5, "loss", 1)->error,
              HasSubstr("ranks 0 to 0, found 1"));
  WorkerReport twice;
  twice.session = w1;
  twice.attempt = AttemptOf(e, 0);
  twice.step = 1;
  twice.metrics = {{"a", 1, 1}, {"a", 1, 1}};
  world.Do(twice);
  EXPECT_THAT(world.Commands<AnswerReport>().at(0).error, HasSubstr("'a' is there twice"));
  twice.metrics.clear();
  for (int i = 0; i <= 1000; ++i) twice.metrics.push_back({std::to_string(i), 1, 1});
  world.Do(twice);
  EXPECT_THAT(world.Commands<AnswerReport>().at(0).error, HasSubstr("1 to 1000, found 1001"));
  EXPECT_EQ(Metrics(), 0u);
}

TEST_F(SchedulerReport, MoreMetricsThanTheLimitAreRefusedByItsName) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.limits.metrics_per_trial = 2;
  Start(spec);
  Told(0, 1, 0.5);
  Told(0, 2, 0.5);
  const AnswerReport refused = Told(0, 3, 0.5);
  EXPECT_THAT(refused.error, HasSubstr("RESOURCE_EXHAUSTED: limits.metrics_per_trial"));
  EXPECT_EQ(Told(0, 2, 0.5).error, "");  // a repeat takes no room
  EXPECT_EQ(Metrics(), 2u);
}

TEST_F(SchedulerReport, AStopIsDecidedInTheCommitOfItsReport) {
  Start(AshaSpecOf(4, 100, 10));
  Told(0, 10, 0.5);
  const AnswerReport told = Told(1, 10, 0.6);  // worse than the only earlier value
  EXPECT_EQ(told.decision, Decision::kStop);
  EXPECT_EQ(told.reason, "below_cutoff");
  EXPECT_EQ(told.grace, std::chrono::seconds(30));
  EXPECT_EQ(world.TrialAt(e, 1).state, TrialState::kStopped);
  EXPECT_EQ(world.TrialAt(e, 1).reason, "below_cutoff");
  EXPECT_EQ(world.AttemptAt(e, 1, 0).state, AttemptState::kStopping);
  EXPECT_EQ(world.storage.tables().decisions.at({e, 2}).decision, "stop");
}

TEST_F(SchedulerReport, ReportsAfterAStopAreStoredDecideNothingAndAreToldAgain) {
  Start(AshaSpecOf(4, 100, 10));
  Told(0, 10, 0.5);
  Told(1, 5, 0.9);
  Told(1, 10, 0.6);
  const size_t decisions = world.storage.tables().decisions.size();
  const AnswerReport after = Told(1, 30, 0.1);
  EXPECT_EQ(after.decision, Decision::kStop);
  EXPECT_EQ(after.reason, "below_cutoff");
  EXPECT_EQ(world.storage.tables().decisions.size(), decisions);
  EXPECT_EQ(Metrics(), 4u);
  EXPECT_EQ(Told(1, 10, 0.6).decision, Decision::kStop);     // a repeat of the decided step
  EXPECT_EQ(Told(1, 5, 0.9).decision, Decision::kContinue);  // as the first time
  world.Restart();
  w1 = world.Connect("w1", kFourCpus,
                     {{AttemptOf(e, 0)}, {AttemptOf(e, 1)}, {AttemptOf(e, 2)}, {AttemptOf(e, 3)}});
  EXPECT_THAT(world.Commands<StopAttempt>(), SizeIs(1));  // told again, it may not have arrived
  EXPECT_EQ(Told(1, 10, 0.6).decision, Decision::kStop);
  EXPECT_EQ(Told(1, 5, 0.9).decision, Decision::kContinue);
  EXPECT_EQ(Metrics(), 4u);
}

TEST_F(SchedulerReport, AStoppingAttemptHoldsItsResourcesUntilItsExit) {
  Start(AshaSpecOf(6, 100, 10));
  Told(0, 10, 0.5);
  Told(1, 10, 0.6);
  EXPECT_THAT(world.Commands<StartAttempt>(), IsEmpty());
  world.Exit(w1, AttemptOf(e, 1), ExitCause::kStopped);
  EXPECT_THAT(world.Commands<StartAttempt>(), SizeIs(1));
  EXPECT_EQ(world.AttemptAt(e, 1, 0).exit_cause, ExitCause::kStopped);
  EXPECT_EQ(world.TrialAt(e, 1).state, TrialState::kStopped);
}

TEST_F(SchedulerReport, MaxTCompletesTheTrialAtOnceWithFinishGrace) {
  Start(AshaSpecOf(1, 10, 10));
  const AnswerReport told = Told(0, 10, 0.5);
  EXPECT_EQ(told.decision, Decision::kStop);
  EXPECT_EQ(told.reason, "max_t");
  EXPECT_EQ(told.grace, std::chrono::minutes(10));
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kCompleted);
  EXPECT_EQ(world.TrialAt(e, 0).reason, "max_t");
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kActive);  // its attempt is not final
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kFailed);
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kCompleted);
  EXPECT_EQ(world.TrialAt(e, 0).failures, 0);
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kCompleted);
}

TEST_F(SchedulerReport, AReportPastMaxTWithoutTheObjectiveCompletesTheTrial) {
  Start(AshaSpecOf(1, 10, 10));
  EXPECT_EQ(Told(0, 10, 0.5, "other").decision, Decision::kContinue);
  EXPECT_EQ(Told(0, 11, 0.5, "other").reason, "max_t");
  EXPECT_EQ(world.TrialAt(e, 0).best_value, std::nullopt);
  EXPECT_EQ(Told(0, 11, 0.25).decision, Decision::kStop);  // a final evaluation at that step counts
  EXPECT_EQ(world.TrialAt(e, 0).best_value, 0.25);
  Told(0, 12, 0.1);  // a later step does not
  EXPECT_EQ(world.TrialAt(e, 0).best_value, 0.25);
}

TEST_F(SchedulerReport, NanStopsTheTrialAndIsNeverBest) {
  Start(AshaSpecOf(4, 100, 10));
  Told(0, 1, 0.5);
  const AnswerReport told = Told(0, 2, kNan);
  EXPECT_EQ(told.reason, "non_finite");
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kStopped);
  EXPECT_EQ(world.TrialAt(e, 0).best_value, 0.5);
  EXPECT_TRUE(std::isnan(world.storage.tables().decisions.at({e, 1}).value));
}

TEST_F(SchedulerReport, AMetricThatIsNotTheObjectiveIsStoredAndDecidesNothing) {
  Start(AshaSpecOf(4, 100, 10));
  EXPECT_EQ(Told(0, 10, 0.5, "los").decision, Decision::kContinue);  // a misspelt one, too
  EXPECT_EQ(Told(0, 30, kNan, "los").decision, Decision::kContinue);
  EXPECT_THAT(world.storage.tables().decisions, IsEmpty());
  EXPECT_EQ(world.TrialAt(e, 0).best_value, std::nullopt);
  EXPECT_EQ(world.TrialAt(e, 0).last_step, 30);
  EXPECT_EQ(Metrics(), 2u);
}

TEST_F(SchedulerReport, InfinitiesOfEitherSignStopTheTrialAndAreKept) {
  for (const double infinity : {kInf, -kInf}) {
    world = World();
    Start(AshaSpecOf(4, 100, 10));
    Told(0, 1, 0.5);
    EXPECT_EQ(Told(0, 12, infinity).reason, "non_finite");
    EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kStopped);
    EXPECT_EQ(world.TrialAt(e, 0).best_value, 0.5);  // −inf would be the smallest loss
    const DecisionRow& row = world.storage.tables().decisions.at({e, 1});
    EXPECT_EQ(row.value, infinity);
    EXPECT_EQ(row.level, 10);
    EXPECT_EQ(row.rank, std::nullopt);
    EXPECT_EQ(world.storage.tables().metrics.rbegin()->second.row.value, infinity);
  }
}

TEST_F(SchedulerReport, WithWorstANonFiniteValueStopsOnlyAtALevel) {
  ExperimentSpec spec = AshaSpecOf(4, 100, 10);
  std::get<AshaSpec>(spec.scheduler).non_finite = AshaSpec::NonFinite::kWorst;
  Start(spec);
  EXPECT_EQ(Told(0, 9, kNan).decision, Decision::kContinue);
  EXPECT_EQ(Told(0, 10, kNan).reason, "non_finite");
  EXPECT_EQ(Told(1, 100, kInf).reason, "max_t");
  EXPECT_EQ(world.TrialAt(e, 1).state, TrialState::kCompleted);
  EXPECT_EQ(world.TrialAt(e, 1).best_value, std::nullopt);
}

TEST_F(SchedulerReport, WithIgnoreANonFiniteValueIsAReportWithoutTheObjective) {
  ExperimentSpec spec = AshaSpecOf(4, 100, 10);
  std::get<AshaSpec>(spec.scheduler).non_finite = AshaSpec::NonFinite::kIgnore;
  Start(spec);
  EXPECT_EQ(Told(0, 10, kNan).decision, Decision::kContinue);
  EXPECT_THAT(world.storage.tables().decisions, IsEmpty());
  Told(0, 11, 0.5);
  EXPECT_EQ(world.storage.tables().decisions.at({e, 1}).step, 11);
  EXPECT_EQ(Told(0, 100, kInf).decision, Decision::kContinue);
  EXPECT_EQ(Told(0, 101, kInf).reason, "max_t");
}

TEST_F(SchedulerReport, FifoGoesOnWhateverTheValue) {
  Start(FifoSpecOf(1));
  Told(0, 1, 0.5);
  EXPECT_EQ(Told(0, 2, kNan).decision, Decision::kContinue);
  EXPECT_EQ(Told(0, 3, -kInf).decision, Decision::kContinue);
  EXPECT_EQ(world.TrialAt(e, 0).best_value, 0.5);
}

TEST_F(SchedulerReport, ANonFiniteStopWithoutARowIsToldAgainAfterARestart) {
  // max_t 10, grace 10: one level below R does not exist, so no row is written.
  Start(AshaSpecOf(2, 10, 10));
  Told(0, 1, 0.5);
  EXPECT_EQ(Told(0, 2, kNan).reason, "non_finite");
  EXPECT_THAT(world.storage.tables().decisions, IsEmpty());
  world.Restart();
  w1 = world.Connect("w1", kFourCpus, {{AttemptOf(e, 0)}, {AttemptOf(e, 1)}});
  EXPECT_EQ(Told(0, 1, 0.5).decision, Decision::kContinue);
  EXPECT_EQ(Told(0, 2, kNan).reason, "non_finite");
  EXPECT_EQ(Metrics(), 2u);
}

TEST_F(SchedulerReport, WithRank0AllRanksAreToldTheSame) {
  ExperimentSpec spec = AshaSpecOf(2, 100, 10);
  spec.trial->processes = 2;
  Start(spec);
  Told(0, 10, 0.5);
  EXPECT_FALSE(world.Report(w1, AttemptOf(e, 1), 10, 9.0, "loss", 1).has_value());
  const AnswerReport told = Told(1, 10, 0.6);
  EXPECT_EQ(told.decision, Decision::kStop);
  EXPECT_THAT(told.report_ids, SizeIs(2));
  // Rank 1 again, ahead of rank 0: nothing of it is waited for any more.
  const auto ahead = world.Report(w1, AttemptOf(e, 1), 11, 9.0, "loss", 1);
  ASSERT_TRUE(ahead.has_value());
  EXPECT_EQ(ahead->decision, Decision::kStop);
  EXPECT_EQ(Metrics(), 2u);
}

TEST_F(SchedulerReport, AResumedAttemptSupersedesLaterStepsAndDecisionsStand) {
  // cases.md 11: reports 1…12, the machine dies, checkpoint at 8; attempt 1 reports 9…13.
  ExperimentSpec spec = AshaSpecOf(1, 100, 10);
  spec.trial->resumable = true;
  Start(spec);
  for (Steps step = 1; step <= 12; ++step) {
    Told(0, step, 1.0 / static_cast<double>(step));
    if (step == 8) StoreCheckpoint(0, 8);
  }
  EXPECT_EQ(world.TrialAt(e, 0).best_step, 12);
  LoseAttempts();
  const std::vector<StartAttempt> starts = world.Commands<StartAttempt>();
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0].attempt, AttemptOf(e, 0, 1));
  EXPECT_EQ(starts[0].resume_step, 8);
  EXPECT_EQ(starts[0].resume_from, "/c/step-8");
  EXPECT_EQ(world.TrialAt(e, 0).losses, 1);

  Told(0, 8, 0.9, "loss", 1);  // not above resume_step: answered, not stored
  EXPECT_EQ(Metrics(), 12u);
  EXPECT_EQ(world.TrialAt(e, 0).best_step, 12);
  for (Steps step = 9; step <= 13; ++step) {
    EXPECT_EQ(Told(0, step, 2.0 / static_cast<double>(step), "loss", 1).decision,
              Decision::kContinue);
    // 1/8 of attempt 0 stays the best: 2/9 … 2/13 are all above it.
    EXPECT_EQ(world.TrialAt(e, 0).best_step, 8);
    EXPECT_EQ(world.TrialAt(e, 0).losses, step <= 12 ? 1 : 0);  // 13 is newly stored
  }
  EXPECT_THAT(world.storage.tables().decisions, SizeIs(1));  // level 10, attempt 0
  EXPECT_EQ(world.storage.tables().decisions.at({e, 1}).attempt, 0);
  std::vector<std::string> curve;
  for (const auto& [key, metric] : world.storage.tables().metrics) {
    if (!metric.superseded) {
      curve.push_back(std::to_string(key.attempt) + ":" + std::to_string(key.step));
    }
  }
  EXPECT_THAT(curve, ElementsAre("0:1", "0:2", "0:3", "0:4", "0:5", "0:6", "0:7", "0:8", "1:9",
                                 "1:10", "1:11", "1:12", "1:13"));
  EXPECT_EQ(Metrics(), 17u);
}

TEST_F(SchedulerReport, ReportsOfAnOlderAttemptAreToldToStopAndNotStored) {
  Start(FifoSpecOf(1));
  Told(0, 1, 0.5);
  LoseAttempts();
  const AnswerReport late = Told(0, 2, 0.4, "loss", 0);
  EXPECT_EQ(late.decision, Decision::kStop);
  EXPECT_THAT(late.reason, HasSubstr("attempt 1.0.0 is no longer current"));
  ASSERT_THAT(world.Commands<StopAttempt>(), SizeIs(1));
  EXPECT_TRUE(world.Commands<StopAttempt>()[0].at_once);
  EXPECT_EQ(Metrics(), 1u);
  EXPECT_EQ(world.storage.tables().events.back().kind, "late_report");
  const size_t events = world.storage.tables().events.size();
  Told(0, 3, 0.4, "loss", 0);
  EXPECT_EQ(world.storage.tables().events.size(), events);  // said once
}

TEST_F(SchedulerReport, ReportsOfUnknownAttemptsAreToldToStop) {
  Start(FifoSpecOf(1));
  const auto answer = world.Report(w1, {{{99}, {0}}, 0}, 1, 0.5);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->decision, Decision::kStop);
}

TEST_F(SchedulerReport, AMeanOverTwoRanksIsOneRowAndOneAnswer) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->processes = 2;
  spec.trial->reduce = Reduce::kMean;
  Start(spec);
  EXPECT_FALSE(world.Report(w1, AttemptOf(e, 0), 1, 0.4, "loss", 0).has_value());
  const auto answer = world.Report(w1, AttemptOf(e, 0), 1, 0.6, "loss", 1);
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(answer->report_ids, SizeIs(2));
  ASSERT_EQ(Metrics(), 1u);
  EXPECT_EQ(world.storage.tables().metrics.begin()->second.row.value, 0.5);
  EXPECT_EQ(world.storage.tables().metrics.begin()->second.row.ranks, 2);
}

TEST_F(SchedulerReport, AnExitCompletesOpenSteps) {
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->processes = 2;
  spec.trial->reduce = Reduce::kMean;
  Start(spec);
  world.Report(w1, AttemptOf(e, 0), 1, 0.4, "loss", 0);
  EXPECT_EQ(Metrics(), 0u);
  world.Exit(w1, AttemptOf(e, 0), ExitCause::kFailed);
  EXPECT_EQ(Metrics(), 1u);
  EXPECT_EQ(world.storage.tables().metrics.begin()->second.row.ranks, 1);
}

TEST_F(SchedulerReport, NoMoreStepsThanTheLimitStayOpen) {
  SchedulerConfig config;
  config.open_steps_per_attempt_max = 2;
  world = World(config);
  ExperimentSpec spec = FifoSpecOf(1);
  spec.trial->processes = 4;
  spec.trial->reduce = Reduce::kMean;
  Start(spec);
  for (int32_t rank = 0; rank < 2; ++rank) {
    EXPECT_FALSE(world.Report(w1, AttemptOf(e, 0), rank + 1, 0.5, "loss", rank).has_value());
  }
  const auto answer = world.Report(w1, AttemptOf(e, 0), 3, 0.5, "loss", 2);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->step, 1);  // the oldest was closed over the rank that it has
  EXPECT_EQ(Metrics(), 1u);
}

TEST_F(SchedulerReport, BestIsByTheWordOfTheExperiment) {
  // cases.md 10: minimise; trial 0 reports 9, 7, 5, trial 1 reports 10, 4, 10.
  for (const BestBy best_by : {BestBy::kBest, BestBy::kLast, BestBy::kMaxT}) {
    World fresh;
    world = std::move(fresh);
    ExperimentSpec spec = AshaSpecOf(2, 4, 4);
    std::get<AshaSpec>(spec.scheduler).max_t = best_by == BestBy::kMaxT ? 4 : 100;
    std::get<AshaSpec>(spec.scheduler).grace_period = 4;
    spec.best_by = best_by;
    Start(spec);
    const std::vector<std::vector<double>> curves{{9, 7, 5}, {10, 4, 10}};
    for (int32_t number = 0; number < 2; ++number) {
      for (size_t i = 0; i < 3; ++i) {
        Told(number, static_cast<Steps>(i) + 1, curves[static_cast<size_t>(number)][i]);
      }
    }
    switch (best_by) {
      case BestBy::kBest:
        EXPECT_EQ(world.TrialAt(e, 0).best_value, 5);
        EXPECT_EQ(world.TrialAt(e, 1).best_value, 4);
        break;
      case BestBy::kLast:
        EXPECT_EQ(world.TrialAt(e, 0).best_value, 5);
        EXPECT_EQ(world.TrialAt(e, 1).best_value, 10);
        EXPECT_EQ(world.TrialAt(e, 1).best_step, 3);
        break;
      case BestBy::kMaxT:
        EXPECT_EQ(world.TrialAt(e, 0).best_value, std::nullopt);
        Told(0, 4, 6);
        EXPECT_EQ(world.TrialAt(e, 0).best_value, 6);
        break;
    }
  }
}

}  // namespace
}  // namespace rung
