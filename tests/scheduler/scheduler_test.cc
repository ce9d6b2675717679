#include "scheduler/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/scheduler_world.h"

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Resources kOneCpu{.milli_cpus = 1000, .memory_bytes = 0, .gpus = 0};

TEST(Scheduler, RunsAFifoExperimentOnOneWorkerToItsEnd) {
  World world;
  const SessionId w1 = world.Connect("w1", kOneCpu);
  const ExperimentId e = world.Create(FifoSpecOf(3));
  for (int32_t number = 0; number < 3; ++number) {
    const AttemptId attempt = AttemptOf(e, number);
    const std::vector<StartAttempt> starts = world.Commands<StartAttempt>();
    ASSERT_THAT(starts, SizeIs(1));
    EXPECT_EQ(starts[0].attempt, attempt);
    EXPECT_EQ(world.TrialAt(e, number).state, TrialState::kRunning);
    world.Do(AttemptStarted{w1, attempt});
    EXPECT_EQ(world.AttemptAt(e, number, 0).state, AttemptState::kRunning);
    const auto answer = world.Report(w1, attempt, 1, 0.5 - 0.1 * number);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->decision, Decision::kContinue);
    world.Exit(w1, attempt);
    EXPECT_EQ(world.TrialAt(e, number).state, TrialState::kCompleted);
  }
  EXPECT_EQ(world.ExperimentAt(e).state, ExperimentState::kCompleted);
  EXPECT_EQ(world.ExperimentAt(e).reason, "trials_exhausted");
  EXPECT_EQ(world.storage.tables().trials.size(), 3u);
}

TEST(Scheduler, OneQueuedTrialWaitsAheadAndSaysWhatItLacks) {
  World world;
  ExperimentSpec spec = FifoSpecOf(5);
  spec.trial->per_process.gpus = 4;
  const ExperimentId e = world.Create(spec);
  EXPECT_EQ(world.TrialAt(e, 0).reason, "waiting: no worker is connected");
  world.Connect("w1", kOneCpu);
  EXPECT_EQ(world.TrialAt(e, 0).reason,
            "waiting: needs 4 GPUs for 1 process; the largest worker, w1, has 0");
  EXPECT_EQ(world.storage.tables().trials.size(), 1u);
  EXPECT_EQ(world.TrialAt(e, 0).state, TrialState::kQueued);
}

}  // namespace
}  // namespace rung
