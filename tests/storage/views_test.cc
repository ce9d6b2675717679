// The views for people, asked as `sqlite3 rung.db` would while the storage is open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "storage/sqlite_storage.h"
#include "tests/storage/queries.h"
#include "tests/storage/sample_rows.h"
#include "tests/storage/temporary_folder.h"

namespace rung {
namespace {

using testing::ElementsAre;

class ViewsTest : public testing::Test {
 protected:
  ViewsTest() {
    auto storage = SqliteStorage::Open(folder_ / "rung.db");
    EXPECT_TRUE(storage.ok()) << storage.status();
    storage_ = *std::move(storage);
  }

  void Commit(std::initializer_list<Write> writes) {
    const absl::Status status = storage_->Commit(BatchOf(writes));
    ASSERT_TRUE(status.ok()) << status;
  }
  std::vector<std::string> Ask(const std::string& sql) { return AskFile(folder_ / "rung.db", sql); }

  TemporaryFolder folder_;
  std::unique_ptr<SqliteStorage> storage_;
};

TrialRow TrialWith(TrialId id, std::optional<double> best) {
  TrialRow row = SampleTrial(id);
  row.best_value = best;
  return row;
}

TEST_F(ViewsTest, LeaderboardIsBestFirstByEachExperimentsGoal) {
  ExperimentRow minimize = SampleExperiment(2);
  minimize.goal = Goal::kMinimize;
  Commit({SampleExperiment(1), minimize});
  for (const int64_t experiment : {1, 2}) {
    Commit({TrialWith(TrialOf(experiment, 0), {}), TrialWith(TrialOf(experiment, 1), 0.5),
            TrialWith(TrialOf(experiment, 2), 0.75), TrialWith(TrialOf(experiment, 3), 0.5)});
  }
  EXPECT_THAT(Ask("SELECT experiment_id, place, trial_number, best_value FROM leaderboard"),
              ElementsAre("2|1|1|0.5", "2|2|3|0.5", "2|3|2|0.75", "2|4|0|", "1|1|2|0.75",
                          "1|2|1|0.5", "1|3|3|0.5", "1|4|0|"));
}

TEST_F(ViewsTest, LearningCurvesLeaveOutWhatWasSuperseded) {
  Commit({SampleExperiment(1), SampleMetric(AttemptOf(1, 0, 0), 1, 0.25),
          SampleMetric(AttemptOf(1, 0, 0), 2, 0.5), SampleMetric(AttemptOf(1, 0, 1), 2, 0.75),
          SampleMetric(AttemptOf(1, 0, 1), 2, std::nan(""), "loss"),
          SupersedeMetrics{AttemptOf(1, 0, 1), 1}});
  EXPECT_THAT(Ask("SELECT trial_number, step, attempt, name, value, is_objective"
                  " FROM learning_curves WHERE experiment_id = 1"),
              ElementsAre("0|1|0|accuracy|0.25|1", "0|2|1|accuracy|0.75|1", "0|2|1|loss||0"));
}

TEST_F(ViewsTest, RungsCountDecisions) {
  DecisionRow go = SampleDecision(1, 1);
  go.decision = "continue";
  go.value = 0.75;
  DecisionRow grant = SampleDecision(1, 3);
  grant.decision = "promote";
  grant.value = 0.99;
  Commit({SampleExperiment(1), go, SampleDecision(1, 2), grant});
  EXPECT_THAT(Ask("SELECT bracket, level, entries, continued, stopped, best_value FROM rungs"),
              ElementsAre("1|30|2|1|1|0.75"));
}

TEST_F(ViewsTest, SummariesCountStepsAttemptsAndHours) {
  // Two attempts with gpu_s 8 and cpu_s 5 each. Attempt 0 resumed at 8 and reached 20, attempt 1
  // resumed at 8 and reached 10: 12 + 2 steps.
  TrialRow failed = SampleTrial(TrialOf(1, 1));
  failed.state = TrialState::kFailed;
  failed.best_value.reset();
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), failed,
          SampleAttempt(AttemptOf(1, 0, 0)), SampleAttempt(AttemptOf(1, 0, 1)),
          SampleMetric(AttemptOf(1, 0, 0), 20, 0.5), SampleMetric(AttemptOf(1, 0, 1), 10, 0.5)});
  EXPECT_THAT(Ask("SELECT trial_number, state, attempts, steps_spent, gpu_s, cpu_s, elapsed_s"
                  " FROM trial_summary"),
              ElementsAre("0|running|2|14|16.0|10.0|0.0", "1|failed|0|0|0.0|0.0|0.0"));
  EXPECT_THAT(Ask("SELECT experiment_id, experiment, best_value, best_trial, trials, running,"
                  " failed, queued, steps_spent, gpu_s, created_utc FROM experiment_summary"),
              ElementsAre("1|bert-asha|0.8125|0|2|1|1|0|14|16.0|2023-11-14 22:13:20"));
}

TEST_F(ViewsTest, AnAttemptThatHoldsItsSlotsCountsUpToNow) {
  AttemptRow running = SampleAttempt(AttemptOf(1, 0, 0));
  running.state = AttemptState::kRunning;
  running.ended.reset();
  running.gpu_s = 0;
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), running});
  EXPECT_THAT(Ask("SELECT gpu_s > 4 * 1.7e9 FROM attempt_usage"), ElementsAre("1"));
}

}  // namespace
}  // namespace rung
