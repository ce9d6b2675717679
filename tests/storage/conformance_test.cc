// What every Storage promises, run on each of them. "Reopen" ends the object and opens what is left
// of it, as a restart does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "storage/memory_storage.h"
#include "storage/sqlite_storage.h"
#include "tests/storage/sample_rows.h"
#include "tests/storage/temporary_folder.h"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A storage that can be restarted.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual void Reopen() = 0;
  virtual Storage& storage() = 0;
};

class MemoryBackend final : public Backend {
 public:
  void Reopen() override { storage_ = MemoryStorage(storage_); }
  Storage& storage() override { return storage_; }

 private:
  MemoryStorage storage_;
};

class SqliteBackend final : public Backend {
 public:
  SqliteBackend() { Reopen(); }
  void Reopen() override {
    storage_.reset();
    auto opened = SqliteStorage::Open(folder_ / "rung.db");
    ASSERT_TRUE(opened.ok()) << opened.status();
    storage_ = *std::move(opened);
  }
  Storage& storage() override { return *storage_; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<SqliteStorage> storage_;
};

class StorageConformance
    : public testing::TestWithParam<std::pair<const char*, std::unique_ptr<Backend> (*)()>> {
 protected:
  void Commit(std::initializer_list<Write> writes) {
    const absl::Status status = backend_->storage().Commit(BatchOf(writes));
    ASSERT_TRUE(status.ok()) << status;
  }
  Snapshot LoadAfterRestart() {
    backend_->Reopen();
    absl::StatusOr<Snapshot> snapshot = backend_->storage().Load();
    EXPECT_TRUE(snapshot.ok()) << snapshot.status();
    return snapshot.ok() ? *std::move(snapshot) : Snapshot{};
  }
  /// The only experiment of the snapshot.
  ExperimentSnapshot LoadExperiment() {
    Snapshot snapshot = LoadAfterRestart();
    EXPECT_EQ(snapshot.experiments.size(), 1u);
    return snapshot.experiments.empty() ? ExperimentSnapshot{} : snapshot.experiments[0];
  }

  std::unique_ptr<Backend> backend_ = GetParam().second();
};

INSTANTIATE_TEST_SUITE_P(
    Storages, StorageConformance,
    testing::Values(
        std::pair{"Memory", +[] { return std::unique_ptr<Backend>(new MemoryBackend); }},
        std::pair{"Sqlite", +[] { return std::unique_ptr<Backend>(new SqliteBackend); }}),
    [](const auto& suite) { return suite.param.first; });

TEST_P(StorageConformance, AnEmptyStorageLoadsAnEmptySnapshot) {
  const Snapshot snapshot = LoadAfterRestart();
  EXPECT_EQ(snapshot.last_experiment_id.value, 0);
  EXPECT_THAT(snapshot.experiments, IsEmpty());
  EXPECT_THAT(snapshot.workers, IsEmpty());
  EXPECT_THAT(snapshot.requests, IsEmpty());
}

TEST_P(StorageConformance, EveryFieldOfEveryLoadedRowComesBack) {
  const TrialId trial = TrialOf(12, 3);
  const AttemptId attempt{trial, 0};
  const MetricRow metric = SampleMetric(attempt, 10, 0.5);
  Commit({SampleExperiment(12), SampleTrial(trial), SampleAttempt(attempt), metric,
          SampleDecision(12, 1), SampleCheckpoint(attempt, 10), SampleWorker("w1"),
          SampleRequest("r1", 17)});

  const Snapshot snapshot = LoadAfterRestart();
  EXPECT_EQ(snapshot.last_experiment_id.value, 12);
  EXPECT_THAT(snapshot.workers, ElementsAre(SampleWorker("w1")));
  EXPECT_THAT(snapshot.requests, ElementsAre(SampleRequest("r1", 17)));
  ASSERT_EQ(snapshot.experiments.size(), 1u);
  const ExperimentSnapshot& experiment = snapshot.experiments[0];
  EXPECT_EQ(experiment.experiment, SampleExperiment(12));
  EXPECT_THAT(experiment.trials, ElementsAre(SampleTrial(trial)));
  EXPECT_THAT(experiment.attempts, ElementsAre(SampleAttempt(attempt)));
  EXPECT_THAT(experiment.decisions, ElementsAre(SampleDecision(12, 1)));
  EXPECT_THAT(experiment.checkpoints, ElementsAre(SampleCheckpoint(attempt, 10)));
  EXPECT_THAT(experiment.recent_metrics, ElementsAre(metric));
  EXPECT_THAT(experiment.objective_metrics, ElementsAre(metric));
}

TEST_P(StorageConformance, TheObjectiveIsLoadedWholeByTrialAttemptAndStep) {
  // Trial 3 has ended; attempt 1 of it resumed at step 1 and superseded what 0 reported after.
  TrialRow ended = SampleTrial(TrialOf(12, 3));
  ended.state = TrialState::kCompleted;
  const AttemptId first = AttemptOf(12, 3, 0);
  const AttemptId second = AttemptOf(12, 3, 1);
  const AttemptId other = AttemptOf(12, 2, 0);
  const MetricRow a = SampleMetric(first, 1, 0.1);
  const MetricRow b = SampleMetric(first, 2, std::numeric_limits<double>::quiet_NaN());
  const MetricRow c = SampleMetric(second, 2, 0.3);
  const MetricRow d = SampleMetric(other, 5, 0.4);
  MetricRow unrelated = SampleMetric(other, 5, 7);
  unrelated.name = "another";
  Commit({SampleExperiment(12), ended, SampleTrial(other.trial), a, b});
  Commit({SupersedeMetrics{second, 1}, c, d, unrelated});

  backend_->Reopen();
  const auto rows = backend_->storage().LoadObjective({12});
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 4u);
  EXPECT_EQ((*rows)[0], d);
  EXPECT_EQ((*rows)[1], a);
  EXPECT_EQ((*rows)[2].attempt, first);
  EXPECT_TRUE(std::isnan((*rows)[2].value));
  EXPECT_EQ((*rows)[3], c);
  EXPECT_THAT(*backend_->storage().LoadObjective({99}), IsEmpty());
}

TEST_P(StorageConformance, AbsentOptionalFieldsComeBackAbsent) {
  ExperimentRow experiment = SampleExperiment(1);
  experiment.planned_trials.reset();
  experiment.max_step.reset();
  experiment.ended.reset();
  TrialRow trial = SampleTrial(TrialOf(1, 0));
  trial.best_value.reset();
  trial.best_step.reset();
  trial.last_step.reset();
  trial.furthest_step.reset();
  trial.ended.reset();
  AttemptRow attempt = SampleAttempt(AttemptOf(1, 0, 0));
  attempt.exit_cause.reset();
  attempt.exit_code.reset();
  attempt.ended.reset();
  DecisionRow decision = SampleDecision(1, 1);
  decision.rank.reset();
  decision.cutoff.reset();
  Commit({experiment, trial, attempt, decision});

  const ExperimentSnapshot loaded = LoadExperiment();
  EXPECT_EQ(loaded.experiment, experiment);
  EXPECT_THAT(loaded.trials, ElementsAre(trial));
  EXPECT_THAT(loaded.attempts, ElementsAre(attempt));
  EXPECT_THAT(loaded.decisions, ElementsAre(decision));
}

TEST_P(StorageConformance, EveryStateAndCauseComesBack) {
  Commit({SampleExperiment(1)});
  int32_t number = 0;
  for (const TrialState state :
       {TrialState::kQueued, TrialState::kRunning, TrialState::kPaused, TrialState::kCompleted,
        TrialState::kStopped, TrialState::kFailed, TrialState::kCancelled}) {
    TrialRow trial = SampleTrial(TrialOf(1, number++));
    trial.state = state;
    Commit({trial});
    EXPECT_EQ(LoadExperiment().trials.back().state, state);
  }
  AttemptRow attempt = SampleAttempt(AttemptOf(1, 0, 0));
  for (const AttemptState state :
       {AttemptState::kAssigned, AttemptState::kStarting, AttemptState::kRunning,
        AttemptState::kStopping, AttemptState::kExited, AttemptState::kLost}) {
    attempt.state = state;
    Commit({attempt});
    EXPECT_EQ(LoadExperiment().attempts.front().state, state);
  }
  for (const ExitCause cause : {ExitCause::kCompleted, ExitCause::kFailed, ExitCause::kStopped,
                                ExitCause::kCouldNotStart, ExitCause::kRefused, ExitCause::kLost}) {
    attempt.exit_cause = cause;
    Commit({attempt});
    EXPECT_EQ(LoadExperiment().attempts.front().exit_cause, cause);
  }
}

TEST_P(StorageConformance, NonFiniteValuesComeBackAsTheyWere) {
  const double infinity = std::numeric_limits<double>::infinity();
  const AttemptId attempt = AttemptOf(1, 0, 0);
  DecisionRow decision = SampleDecision(1, 1);
  decision.value = std::nan("");
  Commit({SampleExperiment(1), SampleTrial(attempt.trial), SampleMetric(attempt, 1, std::nan("")),
          SampleMetric(attempt, 2, infinity), SampleMetric(attempt, 3, -infinity),
          SampleMetric(attempt, 4, 5e-324), SampleMetric(attempt, 5, 0.1), decision});

  const ExperimentSnapshot loaded = LoadExperiment();
  ASSERT_EQ(loaded.objective_metrics.size(), 5u);
  EXPECT_TRUE(std::isnan(loaded.objective_metrics[0].value));
  EXPECT_EQ(loaded.objective_metrics[1].value, infinity);
  EXPECT_EQ(loaded.objective_metrics[2].value, -infinity);
  EXPECT_EQ(loaded.objective_metrics[3].value, 5e-324);
  EXPECT_EQ(loaded.objective_metrics[4].value, 0.1);
  EXPECT_TRUE(std::isnan(loaded.decisions.at(0).value));
}

TEST_P(StorageConformance, ARowOfTheSameKeyReplacesTheOldOne) {
  const AttemptId attempt = AttemptOf(1, 0, 0);
  Commit({SampleExperiment(1), SampleTrial(attempt.trial), SampleAttempt(attempt),
          SampleCheckpoint(attempt, 10), SampleWorker("w1"), SampleRequest("r1", 1)});
  ExperimentRow experiment = SampleExperiment(1);
  experiment.state = ExperimentState::kPaused;
  TrialRow trial = SampleTrial(attempt.trial);
  trial.best_value = 0.9;
  AttemptRow attempt_row = SampleAttempt(attempt);
  attempt_row.message = "again";
  CheckpointRow checkpoint = SampleCheckpoint(attempt, 10);
  checkpoint.refs = 0;
  WorkerRow worker = SampleWorker("w1");
  worker.state = "lost";
  RequestRow request = SampleRequest("r1", 2);
  Commit({experiment, trial, attempt_row, checkpoint, worker, request});

  const Snapshot snapshot = LoadAfterRestart();
  ASSERT_EQ(snapshot.experiments.size(), 1u);
  EXPECT_EQ(snapshot.experiments[0].experiment, experiment);
  EXPECT_THAT(snapshot.experiments[0].trials, ElementsAre(trial));
  EXPECT_THAT(snapshot.experiments[0].attempts, ElementsAre(attempt_row));
  EXPECT_THAT(snapshot.experiments[0].checkpoints, ElementsAre(checkpoint));
  EXPECT_THAT(snapshot.workers, ElementsAre(worker));
  EXPECT_THAT(snapshot.requests, ElementsAre(request));
}

TEST_P(StorageConformance, LaterWritesOfABatchSeeEarlierOnes) {
  TrialRow queued = SampleTrial(TrialOf(1, 0));
  queued.state = TrialState::kQueued;
  TrialRow running = queued;
  running.state = TrialState::kRunning;
  Commit({SampleExperiment(1), queued, running, SampleMetric(AttemptOf(1, 0, 0), 5, 0.5),
          SupersedeMetrics{AttemptOf(1, 0, 1), 4}});

  const ExperimentSnapshot loaded = LoadExperiment();
  EXPECT_THAT(loaded.trials, ElementsAre(running));
  EXPECT_THAT(loaded.objective_metrics, IsEmpty());
}

TEST_P(StorageConformance, SupersedeTakesOnlyLaterStepsOfEarlierAttemptsOfItsTrial) {
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), SampleTrial(TrialOf(1, 1))});
  const MetricRow kept = SampleMetric(AttemptOf(1, 0, 0), 8, 0.1);
  const MetricRow replaced = SampleMetric(AttemptOf(1, 0, 0), 9, 0.2);
  const MetricRow newer = SampleMetric(AttemptOf(1, 0, 1), 9, 0.3);
  const MetricRow other_trial = SampleMetric(AttemptOf(1, 1, 0), 9, 0.4);
  Commit({kept, replaced, newer, other_trial, SupersedeMetrics{AttemptOf(1, 0, 1), 8}});

  EXPECT_THAT(LoadExperiment().objective_metrics, ElementsAre(kept, newer, other_trial));
}

TEST_P(StorageConformance, RecentMetricsAreTheLast64StepsOfTheNewestAttemptWithRows) {
  // Attempt 1 has steps 1 … 70, two metrics each: 7 … 70 are its last 64. Attempt 2 has none yet.
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), SampleAttempt(AttemptOf(1, 0, 2)),
          SampleMetric(AttemptOf(1, 0, 0), 90, 0.5)});
  for (Steps step = 1; step <= 70; ++step) {
    Commit({SampleMetric(AttemptOf(1, 0, 1), step, 0.5, "loss"),
            SampleMetric(AttemptOf(1, 0, 1), step, 0.5, "accuracy")});
  }
  const std::vector<MetricRow> recent = LoadExperiment().recent_metrics;
  ASSERT_EQ(recent.size(), 128u);
  EXPECT_EQ(recent.front(), SampleMetric(AttemptOf(1, 0, 1), 7, 0.5, "accuracy"));
  EXPECT_EQ(recent.back(), SampleMetric(AttemptOf(1, 0, 1), 70, 0.5, "loss"));
}

TEST_P(StorageConformance, FinalExperimentsAndTheMetricsOfFinalTrialsAreNotLoaded) {
  ExperimentRow completed = SampleExperiment(2);
  completed.state = ExperimentState::kCompleted;
  TrialRow stopped = SampleTrial(TrialOf(1, 0));
  stopped.state = TrialState::kStopped;
  CheckpointRow deleted = SampleCheckpoint(AttemptOf(1, 0, 0), 10);
  deleted.state = "deleted";
  Commit(
      {SampleExperiment(1), completed, stopped, SampleMetric(AttemptOf(1, 0, 0), 1, 0.5), deleted});

  const Snapshot snapshot = LoadAfterRestart();
  EXPECT_EQ(snapshot.last_experiment_id.value, 2);
  ASSERT_EQ(snapshot.experiments.size(), 1u);
  EXPECT_EQ(snapshot.experiments[0].experiment.id.value, 1);
  EXPECT_THAT(snapshot.experiments[0].trials, ElementsAre(stopped));
  EXPECT_THAT(snapshot.experiments[0].recent_metrics, IsEmpty());
  EXPECT_THAT(snapshot.experiments[0].objective_metrics, IsEmpty());
  EXPECT_THAT(snapshot.experiments[0].checkpoints, IsEmpty());
}

TEST_P(StorageConformance, MetricsOfAFinalTrialAreLoadedWhileAnAttemptOfItMayStillReport) {
  TrialRow stopped = SampleTrial(TrialOf(1, 0));
  stopped.state = TrialState::kStopped;
  AttemptRow stopping = SampleAttempt(AttemptOf(1, 0, 0));
  stopping.state = AttemptState::kStopping;
  const MetricRow metric = SampleMetric(AttemptOf(1, 0, 0), 1, 0.5);
  Commit({SampleExperiment(1), stopped, stopping, metric});

  const ExperimentSnapshot loaded = LoadExperiment();
  EXPECT_THAT(loaded.recent_metrics, ElementsAre(metric));
  EXPECT_THAT(loaded.objective_metrics, ElementsAre(metric));
}

TEST_P(StorageConformance, ListsAreOrderedByTheirKeysWhateverTheOrderOfWriting) {
  Commit({SampleExperiment(2), SampleExperiment(1), SampleTrial(TrialOf(1, 10)),
          SampleTrial(TrialOf(1, 9)), SampleAttempt(AttemptOf(1, 9, 1)),
          SampleAttempt(AttemptOf(1, 9, 0)), SampleDecision(1, 2), SampleDecision(1, 1),
          SampleWorker("b"), SampleWorker("a"), SampleRequest("a", 2), SampleRequest("b", 1)});

  const Snapshot snapshot = LoadAfterRestart();
  ASSERT_EQ(snapshot.experiments.size(), 2u);
  const ExperimentSnapshot& first = snapshot.experiments[0];
  EXPECT_EQ(first.experiment.id.value, 1);
  EXPECT_THAT(first.trials, ElementsAre(SampleTrial(TrialOf(1, 9)), SampleTrial(TrialOf(1, 10))));
  EXPECT_THAT(first.attempts,
              ElementsAre(SampleAttempt(AttemptOf(1, 9, 0)), SampleAttempt(AttemptOf(1, 9, 1))));
  EXPECT_THAT(first.decisions, ElementsAre(SampleDecision(1, 1), SampleDecision(1, 2)));
  EXPECT_THAT(snapshot.workers, ElementsAre(SampleWorker("a"), SampleWorker("b")));
  EXPECT_THAT(snapshot.requests, ElementsAre(SampleRequest("b", 1), SampleRequest("a", 2)));
}

TEST_P(StorageConformance, RequestsOlderThanTheLimitAreForgotten) {
  Commit({SampleRequest("old", 99), SampleRequest("edge", 100), SampleRequest("new", 101)});
  Commit({ForgetRequests{WallTime{100}}});
  EXPECT_THAT(LoadAfterRestart().requests,
              ElementsAre(SampleRequest("edge", 100), SampleRequest("new", 101)));
}

TEST_P(StorageConformance, ABatchThatFailsLeavesNothingBehindAndTheStorageUsable) {
  const MetricRow metric = SampleMetric(AttemptOf(1, 0, 0), 1, 0.5);
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), metric});
  ExperimentRow paused = SampleExperiment(1);
  paused.state = ExperimentState::kPaused;

  const absl::Status stored_before =
      backend_->storage().Commit(BatchOf({paused, SampleWorker("w1"), metric}));
  const MetricRow twice = SampleMetric(AttemptOf(1, 0, 0), 2, 0.5);
  const absl::Status twice_in_one = backend_->storage().Commit(BatchOf({paused, twice, twice}));

  EXPECT_EQ(stored_before.code(), absl::StatusCode::kInternal) << stored_before;
  EXPECT_EQ(twice_in_one.code(), absl::StatusCode::kInternal) << twice_in_one;
  Commit({twice});
  const Snapshot snapshot = LoadAfterRestart();
  EXPECT_THAT(snapshot.workers, IsEmpty());
  EXPECT_EQ(snapshot.experiments.at(0).experiment, SampleExperiment(1));
  EXPECT_THAT(snapshot.experiments.at(0).objective_metrics, ElementsAre(metric, twice));
}

TEST_P(StorageConformance, AnEmptyBatchIsFine) { Commit({}); }

TEST_P(StorageConformance, TextOfAnyBytesComesBack) {
  ExperimentRow experiment = SampleExperiment(1);
  experiment.name = std::string("nul \0 byte", 10);
  experiment.reason = "\xff\xfe not UTF-8";
  experiment.document.clear();
  Commit({experiment});
  EXPECT_EQ(LoadExperiment().experiment, experiment);
}

}  // namespace
}  // namespace rung
