#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <tuple>
#include <variant>
#include <vector>

#include "tests/scheduler/sim_cluster.h"

/// The rule `median` in the scheduler: what it decides does not depend on restarts.
namespace rung {
namespace {

ExperimentSpec MedianSpecOf(int32_t trials) {
  ExperimentSpec spec = FifoSpecOf(trials);
  spec.scheduler = MedianSpec{.grace_period = 3, .min_rivals = 2, .max_t = 12};
  spec.trial->resumable = true;
  spec.trial->max_losses = 1000;
  return spec;
}

/// A rule that is never restarted, given what the scheduler commits: each decision of the scheduler
/// must be the one that this rule takes.
class Witness {
 public:
  explicit Witness(const ExperimentSpec& spec)
      : rule_(*MakeStoppingRule(spec.scheduler, spec.goal, spec.seed)) {}

  void Follow(const WriteBatch& batch) {
    std::vector<DecisionRecord> expected;
    for (const Write& write : batch.writes) {
      const auto* metric = std::get_if<MetricRow>(&write);
      if (metric == nullptr) continue;
      const RuleReport report{metric->attempt.trial.number, metric->step, metric->value};
      if (over_.contains(report.trial)) {
        ++late_reports;
        rule_->Observe(report);
      } else {
        expected = rule_->OnReport(report).records;
      }
    }
    std::vector<DecisionRow> rows;
    for (const Write& write : batch.writes) {
      if (const auto* row = std::get_if<DecisionRow>(&write)) rows.push_back(*row);
      const auto* trial = std::get_if<TrialRow>(&write);
      if (trial != nullptr && IsFinal(trial->state)) over_.insert(trial->id.number);
    }
    ASSERT_EQ(rows.size(), expected.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(std::tuple(rows[i].trial, rows[i].step, rows[i].value, rows[i].cutoff,
                           rows[i].n_before, rows[i].rank, rows[i].decision, rows[i].reason),
                std::tuple(expected[i].trial, expected[i].step, expected[i].value,
                           expected[i].cutoff, expected[i].n_before, expected[i].rank,
                           expected[i].decision, expected[i].reason));
      ++stops;
    }
  }

  int stops = 0;
  int late_reports = 0;  ///< of trials that had ended

 private:
  std::unique_ptr<StoppingRule> rule_;
  std::set<TrialNumber> over_;
};

/// Twenty trials on four workers. Attempts are lost now and then and go on from a checkpoint, and
/// one trial reports once more after it was cancelled.
TEST(SchedulerMedian, DecidesTheSameWhereverTheSchedulerIsRestarted) {
  for (const int restart_every : {1, 2, 7, 40, 1'000'000}) {
    SimCluster cluster(4, /*last_step=*/20);
    const ExperimentSpec spec = MedianSpecOf(20);
    Witness witness(spec);
    const ExperimentId id = cluster.world.Create(spec);
    cluster.world.on_commit = [&](const WriteBatch& batch) { witness.Follow(batch); };
    bool cancelled = false;
    cluster.Run(id, /*seed=*/5, [&](int i) {
      SimWorker& worker = cluster.workers()[static_cast<size_t>(i) % 4];
      if (i % 29 == 28 && !worker.attempts().empty()) {
        worker.End(worker.attempts().front(), ExitCause::kLost);
      }
      if (i >= 90 && !cancelled && !worker.attempts().empty()) {
        StopTrial stop;
        stop.reply = cluster.world.NextToken();
        stop.trial = worker.attempts().front().trial;
        cluster.world.Do(stop);  // its message is lost, so the trial reports once more
        // It may have to announce its start and a checkpoint first.
        for (int act = 0; act < 3 && witness.late_reports == 0; ++act) cluster.Act(worker);
        cancelled = true;
      }
      if (i % restart_every == 0) cluster.Restart();
    });
    EXPECT_GE(witness.stops, 5) << restart_every;
    EXPECT_EQ(witness.late_reports, 1) << restart_every;
    EXPECT_EQ(cluster.world.storage.tables().trials.size(), 20U);
  }
}

TEST(SchedulerMedian, AStopIsARowAndTheTrialsReason) {
  World world;
  const ExperimentId id = world.Create(MedianSpecOf(3));
  const SessionId session = world.Connect("w", {.milli_cpus = 3000, .memory_bytes = 1, .gpus = 0});
  for (const int32_t trial : {0, 1}) world.Report(session, AttemptOf(id, trial), 3, 0.5);
  const auto answer = world.Report(session, AttemptOf(id, 2), 3, 0.6);  // minimised
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->decision, Decision::kStop);
  EXPECT_EQ(world.TrialAt(id, 2).state, TrialState::kStopped);
  EXPECT_EQ(world.TrialAt(id, 2).reason, "below_median");
  ASSERT_EQ(world.storage.tables().decisions.size(), 1U);
  const DecisionRow& row = world.storage.tables().decisions.begin()->second;
  EXPECT_EQ(row.rule, "median");
  EXPECT_EQ(row.level, 3);
  EXPECT_EQ(row.cutoff, 0.5);
}

}  // namespace
}  // namespace rung
