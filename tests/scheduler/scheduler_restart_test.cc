#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scheduler/decision_replay.h"
#include "tests/scheduler/scheduler_world.h"
#include "tests/scheduler/sim_worker.h"

/// A scheduler killed before or after the commit of any step, its messages unsent, goes on as if
/// nothing had happened (cases.md 12, 13).
namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using Variant = AshaSpec::Variant;

/// What must not depend on a restart, as text.
std::string RowsOf(const MemoryTables& tables) {
  std::string text;
  for (const auto& [id, row] : tables.experiments) {
    text += fmt::format("{} {} {}\n", ToString(id), ToString(row.state), row.reason);
  }
  for (const auto& [id, row] : tables.trials) {
    text +=
        fmt::format("{} {} {} {} best={}@{} last={} rows={} f={} l={} {}-{}\n", ToString(id),
                    ToString(row.state), row.reason, row.params, row.best_value.value_or(-1),
                    row.best_step.value_or(-1), row.last_step.value_or(-1), row.metric_rows,
                    row.failures, row.losses, row.created.us, row.ended.value_or(WallTime{}).us);
  }
  for (const auto& [id, row] : tables.attempts) {
    text += fmt::format("{} {} {} {} {} {}\n", ToString(id), ToString(row.state),
                        ToString(row.exit_cause.value_or(ExitCause::kLost)), row.workers,
                        row.resume_step, row.cpu_s);
  }
  for (const auto& [key, metric] : tables.metrics) {
    text += fmt::format("{} {} {}={} ranks={} {} {}\n", ToString(metric.row.attempt), key.step,
                        key.name, metric.row.value, metric.row.ranks, metric.row.time.us,
                        metric.superseded);
  }
  for (const auto& [key, row] : tables.decisions) {
    text += fmt::format(
        "{} {}.{} level={} step={} value={} n={} of={} rank={} cutoff={} {} {} {}\n", row.seq,
        row.trial.value, row.attempt, row.level, row.step, row.value, row.n_before, row.entries,
        row.rank.value_or(-1), row.cutoff.value_or(-1), row.rule, row.decision, row.reason);
  }
  return text;
}

struct RunResult {
  std::string rows;
  int events = 0;
};

struct Kill {
  int event = -1;              ///< its number; −1: never
  bool before_commit = false;  ///< the event is lost too, and the worker repeats it
};

/// One worker with room for two trials runs everything, one action after the other.
RunResult RunAll(const ExperimentSpec& spec, Kill kill, Steps checkpoint_every = 0) {
  World world;
  DecisionReplay replay({1}, spec);
  world.on_commit = [&](const WriteBatch& batch) { replay.Follow(batch); };
  const Resources total{.milli_cpus = 2000 * spec.trial->processes, .memory_bytes = 0, .gpus = 0};
  SimWorker worker("w1", total, 9, checkpoint_every);
  uint64_t session = 0;
  RunResult result;
  bool killed = false;
  const auto happen = [&](const Event& event) {
    const bool now = !killed && result.events++ == kill.event;
    if (!now || !kill.before_commit) world.Do(event);
    if (now) {
      killed = true;
      world.Restart();
      world.Do(worker.Connect({++session}));
    }
    for (const Message& message : world.messages) {
      if (const auto* to = std::get_if<ToWorker>(&message)) worker.Deliver(*to);
    }
  };
  happen(worker.Connect({++session}));
  const ExperimentId e = world.Create(spec);
  for (const Message& message : world.messages) {
    if (const auto* to = std::get_if<ToWorker>(&message)) worker.Deliver(*to);
  }
  for (int round = 0; round < 2000 && !worker.idle(); ++round) {
    for (const AttemptId id : worker.attempts()) {
      // An action and, after a kill, its repeats are one turn, so that the order stays the same.
      do {
        happen(worker.NextEvent(id));
      } while (worker.Waits(id));
    }
  }
  EXPECT_THAT(worker.errors, testing::IsEmpty());
  EXPECT_TRUE(IsFinal(world.ExperimentAt(e).state));
  const absl::Status record = CheckTables(world.storage.tables(), e, spec);
  EXPECT_TRUE(record.ok()) << record;
  result.rows = RowsOf(world.storage.tables());
  return result;
}

void ExpectSameAtEveryKill(const ExperimentSpec& spec, Steps checkpoint_every = 0) {
  const RunResult whole = RunAll(spec, {}, checkpoint_every);
  ASSERT_GT(whole.events, 20);
  for (int event = 0; event < whole.events; ++event) {
    for (const bool before_commit : {true, false}) {
      const RunResult killed = RunAll(spec, {event, before_commit}, checkpoint_every);
      ASSERT_EQ(killed.rows, whole.rows)
          << "killed " << (before_commit ? "before" : "after") << " the commit of event " << event;
    }
  }
}

TEST(SchedulerRestart, FifoGivesTheSameRowsWhereverItIsKilled) {
  ExpectSameAtEveryKill(FifoSpecOf(4));
}

TEST(SchedulerRestart, AshaTakesTheSameDecisionsWhereverItIsKilled) {
  ExpectSameAtEveryKill(AshaSpecOf(12, Variant::kStopping));
}

TEST(SchedulerRestart, AReductionOverTwoRanksIsTheSameWhereverItIsKilled) {
  ExperimentSpec spec = AshaSpecOf(6, Variant::kStopping);
  spec.trial->processes = 2;
  spec.trial->reduce = Reduce::kMean;
  ExpectSameAtEveryKill(spec);
}

TEST(SchedulerRestart, CheckpointsSurviveIt) {
  ExperimentSpec spec = AshaSpecOf(5, Variant::kStopping);
  spec.trial->resumable = true;
  ExpectSameAtEveryKill(spec, 2);
}

TEST(SchedulerRestart, PromotionTakesTheSameDecisionsWhereverItIsKilled) {
  ExpectSameAtEveryKill(AshaSpecOf(9, Variant::kPromotion), 2);
}

TEST(SchedulerRestart, ADrainGoesOnWhereverItIsKilled) {
  ExperimentSpec spec = AshaSpecOf(2, Variant::kPromotion);
  std::get<AshaSpec>(spec.scheduler).brackets = 2;
  ExpectSameAtEveryKill(spec, 1);
}

TEST(SchedulerRestart, AnExperimentWhoseDocumentIsRefusedStopsNoOther) {
  World world;
  const Resources two{.milli_cpus = 2000, .memory_bytes = 0, .gpus = 0};
  SessionId w1 = world.Connect("w1", two);
  const ExperimentId refused = world.Create(FifoSpecOf(1));
  const ExperimentId other = world.Create(FifoSpecOf(1));
  for (const ExperimentId id : {refused, other}) world.Do(AttemptStarted{w1, AttemptOf(id, 0)});
  world.refused_document = world.ExperimentAt(refused).document;
  world.Restart();
  world.Do(Tick{});
  EXPECT_EQ(world.storage.tables().workers.at("w1").state, "disconnected");
  w1 = world.Connect("w1", two,
                     {{AttemptOf(refused, 0), AttemptState::kRunning, 0},
                      {AttemptOf(other, 0), AttemptState::kRunning, 0}});
  EXPECT_THAT(world.Commands<Welcome>().at(0).keep, ElementsAre(AttemptOf(other, 0)));
  EXPECT_EQ(world.storage.tables().events.back().kind, "worker_connected");
  world.Exit(w1, AttemptOf(other, 0));
  EXPECT_EQ(world.ExperimentAt(other).state, ExperimentState::kCompleted);

  // Its rows are as they were, and whoever asks is told why nothing comes of it.
  EXPECT_EQ(world.ExperimentAt(refused).state, ExperimentState::kActive);
  EXPECT_EQ(world.ExperimentAt(refused).reason, "not_loaded");
  const ReplyToken token = world.NextToken();
  world.Do(StopExperiment{token, "", refused});
  EXPECT_EQ(world.ReplyTo(token).status(),
            absl::FailedPreconditionError(
                "experiment 1 is not loaded, its rows are as they were: space: refused"));
  const auto& events = world.storage.tables().events;
  EXPECT_EQ(std::ranges::count(events, "experiment_not_loaded", &EventRow::kind), 1);

  // A version that takes the document goes on with it.
  world.refused_document.clear();
  world.Restart();
  world.Connect("w1", two);
  ASSERT_THAT(world.Commands<StartAttempt>(), SizeIs(1));
  EXPECT_EQ(world.Commands<StartAttempt>()[0].attempt, AttemptOf(refused, 0, 1));
  EXPECT_EQ(world.ExperimentAt(refused).reason, "");
}

}  // namespace
}  // namespace rung
