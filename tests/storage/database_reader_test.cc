#include "storage/database_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "storage/sqlite_storage.h"
#include "tests/storage/sample_rows.h"
#include "tests/storage/temporary_folder.h"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr WallTime kNow{10'000'000};

TrialRow TrialIn(TrialId id, TrialState state, std::optional<double> best) {
  TrialRow row = SampleTrial(id);
  row.state = state;
  row.best_value = best;
  return row;
}

AttemptRow RunningAttempt(AttemptId id) {
  AttemptRow row = SampleAttempt(id);
  row.state = AttemptState::kRunning;
  row.resume_step = 0;
  row.ended.reset();
  row.gpu_s = 0;
  row.cpu_s = 0;
  return row;
}

std::vector<int32_t> Numbers(const std::vector<TrialSummary>& trials) {
  std::vector<int32_t> numbers;
  for (const TrialSummary& summary : trials) numbers.push_back(summary.trial.id.number.value);
  return numbers;
}

class DatabaseReaderTest : public testing::Test {
 protected:
  DatabaseReaderTest() {
    auto storage = SqliteStorage::Open(folder_ / "rung.db");
    EXPECT_TRUE(storage.ok()) << storage.status();
    storage_ = *std::move(storage);
    auto reader = DatabaseReader::Open(folder_ / "rung.db");
    EXPECT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }

  void Commit(const WriteBatch& batch) {
    const absl::Status status = storage_->Commit(batch);
    ASSERT_TRUE(status.ok()) << status;
  }
  void Commit(std::initializer_list<Write> writes) { Commit(BatchOf(writes)); }

  TemporaryFolder folder_;
  std::unique_ptr<SqliteStorage> storage_;
  std::unique_ptr<DatabaseReader> reader_;
};

TEST_F(DatabaseReaderTest, OpenOfAMissingFileIsNotFoundAndCreatesNothing) {
  const auto reader = DatabaseReader::Open(folder_ / "none.db");
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none.db"));
}

TEST_F(DatabaseReaderTest, UnknownIdsAreNotFoundAndNamed) {
  Commit({SampleExperiment(1)});
  EXPECT_EQ(reader_->GetExperiment(ExperimentId{7}, kNow).status(),
            absl::NotFoundError("experiment 7 does not exist"));
  EXPECT_EQ(reader_->GetTrial(TrialOf(7, 0), kNow).status(),
            absl::NotFoundError("experiment 7 does not exist"));
  EXPECT_EQ(reader_->GetTrial(TrialOf(1, 3), kNow).status(),
            absl::NotFoundError("trial 1.3 does not exist"));
  EXPECT_EQ(reader_->ListTrials({.experiment = {7}, .states = {}, .page = {}}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(
      reader_->ListMetrics({.experiment = {1}, .trial = TrialNumber{3}, .name = {}, .page = {}})
          .status()
          .code(),
      absl::StatusCode::kNotFound);
  EXPECT_EQ(reader_->ListDecisions({.experiment = {7}, .trial = {}, .page = {}}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(reader_->LastStderr(ExperimentId{7}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(DatabaseReaderTest, GetExperimentCountsTrialsByState) {
  Commit({SampleExperiment(1), TrialIn(TrialOf(1, 0), TrialState::kQueued, {}),
          TrialIn(TrialOf(1, 1), TrialState::kRunning, {}),
          TrialIn(TrialOf(1, 2), TrialState::kRunning, {}),
          TrialIn(TrialOf(1, 3), TrialState::kPaused, {}),
          TrialIn(TrialOf(1, 4), TrialState::kCompleted, {}),
          TrialIn(TrialOf(1, 5), TrialState::kStopped, {}),
          TrialIn(TrialOf(1, 6), TrialState::kFailed, {}),
          TrialIn(TrialOf(1, 7), TrialState::kCancelled, {}), SampleExperiment(2),
          TrialIn(TrialOf(2, 0), TrialState::kQueued, {})});
  const auto summary = reader_->GetExperiment(ExperimentId{1}, kNow);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->experiment, SampleExperiment(1));
  EXPECT_EQ(summary->trials.queued, 1);
  EXPECT_EQ(summary->trials.running, 2);
  EXPECT_EQ(summary->trials.paused, 1);
  EXPECT_EQ(summary->trials.completed, 1);
  EXPECT_EQ(summary->trials.stopped, 1);
  EXPECT_EQ(summary->trials.failed, 1);
  EXPECT_EQ(summary->trials.cancelled, 1);
  EXPECT_FALSE(summary->best.has_value());
  EXPECT_THAT(summary->rungs, IsEmpty());
}

TEST_F(DatabaseReaderTest, StepsSpentCountWhatEveryAttemptTrainedSupersededIncluded) {
  // Attempt 0: steps 1 … 12. Attempt 1 resumes at 8 and reports up to 10: 2 more, 9 and 10 twice.
  // Attempt 2 resumes at 8 and has not reported. Trial 1: 5. Together 12 + 2 + 0 + 5 = 19.
  AttemptRow first = SampleAttempt(AttemptOf(1, 0, 0));
  first.resume_step = 0;
  AttemptRow other = SampleAttempt(AttemptOf(1, 1, 0));
  other.resume_step = 0;
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), SampleTrial(TrialOf(1, 1)), first, other,
          SampleAttempt(AttemptOf(1, 0, 1)), SampleAttempt(AttemptOf(1, 0, 2)),
          SampleMetric(AttemptOf(1, 0, 0), 12, 0.5), SampleMetric(AttemptOf(1, 0, 0), 6, 0.5),
          SampleMetric(AttemptOf(1, 0, 1), 10, 0.5), SampleMetric(AttemptOf(1, 1, 0), 5, 0.5),
          SupersedeMetrics{AttemptOf(1, 0, 1), 8}});
  const auto summary = reader_->GetExperiment(ExperimentId{1}, kNow);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->steps_spent, 19);
}

TEST_F(DatabaseReaderTest, UsageCountsRunningAttemptsUpToNow) {
  // The ended one has gpu_s 8 and cpu_s 5. The running one holds 4 GPUs and 2.5 cores from 1 s on:
  // until 10 s that makes 36 and 22.5.
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), SampleAttempt(AttemptOf(1, 0, 0)),
          RunningAttempt(AttemptOf(1, 0, 1))});
  const auto summary = reader_->GetExperiment(ExperimentId{1}, kNow);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_DOUBLE_EQ(summary->gpu_s, 44);
  EXPECT_DOUBLE_EQ(summary->cpu_s, 27.5);
  const auto trial = reader_->GetTrial(TrialOf(1, 0), kNow);
  ASSERT_TRUE(trial.ok()) << trial.status();
  ASSERT_EQ(trial->attempts.size(), 2u);
  EXPECT_DOUBLE_EQ(trial->attempts[0].attempt.gpu_s, 8);
  EXPECT_DOUBLE_EQ(trial->attempts[1].attempt.gpu_s, 36);
  EXPECT_DOUBLE_EQ(trial->attempts[1].attempt.cpu_s, 22.5);
}

TEST_F(DatabaseReaderTest, BestFollowsTheGoalAndOfEqualsTakesTheLowestNumber) {
  ExperimentRow minimize = SampleExperiment(2);
  minimize.goal = Goal::kMinimize;
  Commit({SampleExperiment(1), minimize});
  for (const int64_t experiment : {1, 2}) {
    Commit({TrialIn(TrialOf(experiment, 0), TrialState::kRunning, {}),
            TrialIn(TrialOf(experiment, 1), TrialState::kRunning, 0.9),
            TrialIn(TrialOf(experiment, 2), TrialState::kRunning, 0.9),
            TrialIn(TrialOf(experiment, 3), TrialState::kRunning, -0.5),
            TrialIn(TrialOf(experiment, 4), TrialState::kRunning, -0.5)});
  }
  EXPECT_EQ(reader_->GetExperiment({1}, kNow)->best->trial.id, TrialOf(1, 1));
  EXPECT_EQ(reader_->GetExperiment({2}, kNow)->best->trial.id, TrialOf(2, 3));
}

TEST_F(DatabaseReaderTest, LastValueIsTheObjectivesLastRowThatIsNotSuperseded) {
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), SampleTrial(TrialOf(1, 1)),
          SampleTrial(TrialOf(1, 2)), SampleMetric(AttemptOf(1, 0, 0), 8, 0.25),
          SampleMetric(AttemptOf(1, 0, 0), 12, 0.5), SampleMetric(AttemptOf(1, 0, 1), 9, 3, "loss"),
          SupersedeMetrics{AttemptOf(1, 0, 1), 8},
          SampleMetric(AttemptOf(1, 1, 0), 1, std::nan(""))});
  EXPECT_EQ(reader_->GetTrial(TrialOf(1, 0), kNow)->summary.last_value, 0.25);
  EXPECT_TRUE(std::isnan(reader_->GetTrial(TrialOf(1, 1), kNow)->summary.last_value.value()));
  EXPECT_EQ(reader_->GetTrial(TrialOf(1, 2), kNow)->summary.last_value, std::nullopt);
}

TEST_F(DatabaseReaderTest, RungsCountEntriesByDecisionAndGrantsAreNotEntries) {
  WriteBatch batch = BatchOf({SampleExperiment(1)});
  int64_t seq = 0;
  const auto add = [&](int32_t bracket, Steps level, const char* decision, double value) {
    DecisionRow row = SampleDecision(1, ++seq);
    row.bracket = bracket;
    row.level = level;
    row.decision = decision;
    row.value = value;
    batch.Add(row);
  };
  add(0, 30, "continue", 0.7);
  add(0, 10, "continue", 0.5);
  add(0, 10, "stop", 0.25);
  add(0, 10, "stop", std::nan(""));
  add(0, 10, "stop", kInfinity);
  add(0, 10, "pause", 0.75);
  add(0, 10, "skipped", 0.99);
  add(0, 10, "promote", 0.98);
  Commit(batch);
  const auto summary = reader_->GetExperiment({1}, kNow);
  ASSERT_TRUE(summary.ok()) << summary.status();
  ASSERT_EQ(summary->rungs.size(), 2u);
  const RungOccupancy& rung = summary->rungs[0];
  EXPECT_EQ(rung.level, 10);
  EXPECT_EQ(rung.entries, 5);
  EXPECT_EQ(rung.continued, 1);
  EXPECT_EQ(rung.stopped, 3);
  EXPECT_EQ(rung.paused, 1);
  EXPECT_EQ(rung.skipped, 1);
  EXPECT_EQ(rung.best_value, 0.75);
  EXPECT_EQ(summary->rungs[1].level, 30);
}

TEST_F(DatabaseReaderTest, ListExperimentsIsNewestFirstPagedAndFilteredByName) {
  ExperimentRow other = SampleExperiment(2);
  other.name = "other";
  Commit({SampleExperiment(1), other, SampleExperiment(3), SampleTrial(TrialOf(3, 0))});
  const auto first = reader_->ListExperiments("", {.size = 2, .token = ""}, kNow);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->items.size(), 2u);
  EXPECT_EQ(first->items[0].experiment.id.value, 3);
  EXPECT_EQ(first->items[0].trials.running, 1);
  EXPECT_EQ(first->items[0].experiment.document, "");
  EXPECT_EQ(first->items[0].experiment.plan, "");
  EXPECT_EQ(first->items[1].experiment.id.value, 2);
  const auto second =
      reader_->ListExperiments("", {.size = 2, .token = first->next_page_token}, kNow);
  ASSERT_EQ(second->items.size(), 1u);
  EXPECT_EQ(second->items[0].experiment.id.value, 1);
  EXPECT_EQ(second->next_page_token, "");
  const auto named = reader_->ListExperiments("other", {}, kNow);
  ASSERT_EQ(named->items.size(), 1u);
  EXPECT_EQ(named->items[0].experiment.name, "other");
}

TEST_F(DatabaseReaderTest, GetTrialHasItsAttemptsWithTheirLogTails) {
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), SampleAttempt(AttemptOf(1, 0, 0)),
          SampleAttempt(AttemptOf(1, 0, 1)), LogTailRow{AttemptOf(1, 0, 1), 1, "second"},
          LogTailRow{AttemptOf(1, 0, 1), 0, "first"}});
  const auto trial = reader_->GetTrial(TrialOf(1, 0), kNow);
  ASSERT_TRUE(trial.ok()) << trial.status();
  EXPECT_EQ(trial->summary.trial, SampleTrial(TrialOf(1, 0)));
  ASSERT_EQ(trial->attempts.size(), 2u);
  EXPECT_EQ(trial->attempts[0].attempt, SampleAttempt(AttemptOf(1, 0, 0)));
  EXPECT_THAT(trial->attempts[0].log_tails, IsEmpty());
  EXPECT_THAT(trial->attempts[1].log_tails,
              ElementsAre(LogTailRow{AttemptOf(1, 0, 1), 0, "first"},
                          LogTailRow{AttemptOf(1, 0, 1), 1, "second"}));
}

TEST_F(DatabaseReaderTest, GetTrialIsBoundedAndKeepsTheNewest) {
  constexpr int32_t kAttempts = TrialDetail::kAttemptsMax + 2;
  WriteBatch batch;
  batch.Add(SampleExperiment(1));
  batch.Add(SampleTrial(TrialOf(1, 0)));
  for (int32_t attempt = 0; attempt < kAttempts; ++attempt) {
    batch.Add(SampleAttempt(AttemptOf(1, 0, attempt)));
    // Two thirds of what is enough: the newest two reach it.
    if (attempt < kAttempts - 3) continue;
    const std::string text(TrialDetail::kTailBytesEnough * 2 / 3, 'x');
    batch.Add(LogTailRow{AttemptOf(1, 0, attempt), 0, text});
  }
  Commit(batch);
  const auto trial = reader_->GetTrial(TrialOf(1, 0), kNow);
  ASSERT_TRUE(trial.ok()) << trial.status();
  ASSERT_EQ(trial->attempts.size(), 1'000u);
  EXPECT_EQ(trial->attempts.front().attempt.id, AttemptOf(1, 0, 2));
  EXPECT_EQ(trial->attempts.back().attempt.id, AttemptOf(1, 0, 1'001));
  EXPECT_EQ(trial->attempts[999].log_tails.size(), 1u);
  EXPECT_EQ(trial->attempts[998].log_tails.size(), 1u);
  EXPECT_THAT(trial->attempts[997].log_tails, IsEmpty());
}

TEST_F(DatabaseReaderTest, TrialsBestFirstPageThroughTiesInfinitiesAndMissingValues) {
  Commit({SampleExperiment(1), TrialIn(TrialOf(1, 0), TrialState::kQueued, {}),
          TrialIn(TrialOf(1, 1), TrialState::kRunning, 0.1),
          TrialIn(TrialOf(1, 2), TrialState::kRunning, kInfinity),
          TrialIn(TrialOf(1, 3), TrialState::kRunning, 0.1),
          TrialIn(TrialOf(1, 4), TrialState::kRunning, 0.3),
          TrialIn(TrialOf(1, 5), TrialState::kRunning, -kInfinity),
          TrialIn(TrialOf(1, 6), TrialState::kQueued, {})});
  for (const int32_t size : {1, 2, 3, 100}) {
    TrialQuery query{{1}, TrialOrder::kBest, {}, {size, ""}};
    std::vector<int32_t> seen;
    do {
      const auto page = reader_->ListTrials(query);
      ASSERT_TRUE(page.ok()) << page.status();
      ASSERT_LE(page->items.size(), static_cast<size_t>(size));
      for (const int32_t number : Numbers(page->items)) seen.push_back(number);
      query.page.token = page->next_page_token;
    } while (!query.page.token.empty());
    EXPECT_THAT(seen, ElementsAre(2, 4, 1, 3, 5, 0, 6)) << "pages of " << size;
  }
}

TEST_F(DatabaseReaderTest, TrialsByNumberCanBeFilteredByStates) {
  Commit({SampleExperiment(1), TrialIn(TrialOf(1, 0), TrialState::kQueued, {}),
          TrialIn(TrialOf(1, 1), TrialState::kRunning, 0.1),
          TrialIn(TrialOf(1, 2), TrialState::kStopped, 0.5),
          TrialIn(TrialOf(1, 3), TrialState::kRunning, 0.9)});
  TrialQuery query{{1}, TrialOrder::kNumber, {TrialState::kQueued, TrialState::kRunning}, {2, ""}};
  auto page = reader_->ListTrials(query);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(Numbers(page->items), ElementsAre(0, 1));
  query.page.token = page->next_page_token;
  page = reader_->ListTrials(query);
  EXPECT_THAT(Numbers(page->items), ElementsAre(3));
  EXPECT_EQ(page->next_page_token, "");
}

TEST_F(DatabaseReaderTest, MetricsComeByTrialStepAttemptNameAndPageByKey) {
  WriteBatch batch =
      BatchOf({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), SampleTrial(TrialOf(1, 1))});
  batch.Add(SampleMetric(AttemptOf(1, 1, 0), 1, 7));
  for (const Steps step : {2, 1}) {
    for (const char* name : {"loss", "accuracy"}) {
      batch.Add(SampleMetric(AttemptOf(1, 0, 0), step, static_cast<double>(step), name));
    }
  }
  batch.Add(SampleMetric(AttemptOf(1, 0, 1), 2, 5));
  batch.Add(SupersedeMetrics{AttemptOf(1, 0, 1), 1});
  Commit(batch);

  for (const int32_t size : {1, 2, 4, 1000}) {
    MetricQuery query{{1}, {}, "", true, {size, ""}};
    std::vector<std::string> seen;
    do {
      const auto page = reader_->ListMetrics(query);
      ASSERT_TRUE(page.ok()) << page.status();
      for (const StoredMetric& metric : page->items) {
        seen.push_back(ToString(metric.row.attempt) + " " + std::to_string(metric.row.step) + " " +
                       metric.row.name + (metric.superseded ? " superseded" : ""));
      }
      query.page.token = page->next_page_token;
    } while (!query.page.token.empty());
    EXPECT_THAT(seen,
                ElementsAre("1.0.0 1 accuracy", "1.0.0 1 loss", "1.0.0 2 accuracy superseded",
                            "1.0.0 2 loss superseded", "1.0.1 2 accuracy", "1.1.0 1 accuracy"))
        << "pages of " << size;
  }
  const auto curve = reader_->ListMetrics({{1}, TrialNumber{0}, "accuracy", false, {}});
  ASSERT_TRUE(curve.ok()) << curve.status();
  ASSERT_EQ(curve->items.size(), 2u);
  EXPECT_EQ(curve->items[0].row.value, 1);
  EXPECT_EQ(curve->items[1].row, SampleMetric(AttemptOf(1, 0, 1), 2, 5));
}

TEST_F(DatabaseReaderTest, DecisionsComeBySeqAndCanBeOfOneTrial) {
  DecisionRow other = SampleDecision(1, 2);
  other.trial = TrialNumber{0};
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 6)), SampleDecision(1, 3),
          SampleDecision(1, 1), other});
  const auto first = reader_->ListDecisions({{1}, {}, {2, ""}});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(first->items, ElementsAre(SampleDecision(1, 1), other));
  const auto second = reader_->ListDecisions({{1}, {}, {2, first->next_page_token}});
  EXPECT_THAT(second->items, ElementsAre(SampleDecision(1, 3)));
  EXPECT_EQ(second->next_page_token, "");
  const auto of_trial = reader_->ListDecisions({{1}, TrialNumber{6}, {}});
  EXPECT_THAT(of_trial->items, ElementsAre(SampleDecision(1, 1), SampleDecision(1, 3)));
}

TEST_F(DatabaseReaderTest, WorkersHaveTheAttemptsThatTheyHold) {
  AttemptRow gang = RunningAttempt(AttemptOf(1, 0, 0));
  gang.workers = "w1,w11";
  AttemptRow single = RunningAttempt(AttemptOf(1, 1, 0));
  single.workers = "w11";
  Commit(
      {SampleWorker("w11"), SampleWorker("w1"), gang, single, SampleAttempt(AttemptOf(1, 2, 0))});
  const auto workers = reader_->ListWorkers();
  ASSERT_TRUE(workers.ok()) << workers.status();
  ASSERT_EQ(workers->size(), 2u);
  EXPECT_EQ((*workers)[0].worker, SampleWorker("w1"));
  EXPECT_THAT((*workers)[0].attempts, ElementsAre(gang));
  EXPECT_THAT((*workers)[1].attempts, ElementsAre(gang, single));
}

TEST_F(DatabaseReaderTest, LastStderrIsOfTheAttemptThatEndedLast) {
  AttemptRow early = SampleAttempt(AttemptOf(1, 5, 0));
  AttemptRow late = SampleAttempt(AttemptOf(1, 0, 0));
  late.ended = WallTime{early.ended->us + 1};
  Commit({SampleExperiment(1)});
  EXPECT_EQ(reader_->LastStderr({1}).value(), std::nullopt);
  Commit({early, late, LogTailRow{early.id, 0, "early"}, LogTailRow{late.id, 1, "late"},
          LogTailRow{late.id, 3, "late, but another rank"}});
  EXPECT_EQ(reader_->LastStderr({1}).value()->text, "late");
}

TEST_F(DatabaseReaderTest, TokensOfOtherListsOrFiltersAndGarbageAreRefused) {
  Commit({SampleExperiment(1), SampleTrial(TrialOf(1, 0)), SampleTrial(TrialOf(1, 1))});
  const std::string token =
      reader_->ListTrials({{1}, TrialOrder::kNumber, {}, {1, ""}})->next_page_token;
  ASSERT_NE(token, "");
  const auto best = reader_->ListTrials({{1}, TrialOrder::kBest, {}, {1, token}});
  EXPECT_EQ(best.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(best.status().message()), HasSubstr("page_token"));
  const auto metrics = reader_->ListMetrics({{1}, {}, "", false, {1, token}});
  EXPECT_EQ(metrics.status().code(), absl::StatusCode::kInvalidArgument);
  for (const std::string& bad : {std::string("x"), std::string("!!!"), token + "A", token.substr(1),
                                 std::string(100'000, 'A')}) {
    const auto page = reader_->ListTrials({{1}, TrialOrder::kNumber, {}, {1, bad}});
    EXPECT_EQ(page.status().code(), absl::StatusCode::kInvalidArgument) << bad.substr(0, 20);
  }
}

TEST_F(DatabaseReaderTest, PageSizesBelowZeroAreRefusedAndLargeOnesCut) {
  WriteBatch batch = BatchOf({SampleExperiment(1)});
  for (int32_t number = 0; number < 1001; ++number) batch.Add(SampleTrial(TrialOf(1, number)));
  Commit(batch);
  EXPECT_EQ(reader_->ListTrials({{1}, TrialOrder::kNumber, {}, {-1, ""}}).status(),
            absl::InvalidArgumentError("page_size must be 0 (then 100) to 1000, found -1"));
  EXPECT_EQ(reader_->ListTrials({{1}, TrialOrder::kNumber, {}, {0, ""}})->items.size(), 100u);
  EXPECT_EQ(reader_->ListTrials({{1}, TrialOrder::kNumber, {}, {INT32_MAX, ""}})->items.size(),
            1000u);
}

TEST_F(DatabaseReaderTest, ReadsSeeWholeBatchesWhileTheWriterCommits) {
  // Each batch adds a trial and raises priority with it, so both are equal in every snapshot.
  ExperimentRow row = SampleExperiment(1);
  row.priority = 0;
  Commit({row});
  std::vector<std::thread> readers;
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const auto summary = reader_->GetExperiment({1}, kNow);
        if (!summary.ok() || summary->trials.running != summary->experiment.priority) ++torn;
      }
    });
  }
  for (int32_t number = 0; number < 200; ++number) {
    row.priority = number + 1;
    Commit({row, SampleTrial(TrialOf(1, number))});
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
}

TEST_F(DatabaseReaderTest, AReadThatTakesTooLongEndsAndTheNextOneWorks) {
  WriteBatch batch = BatchOf({SampleExperiment(1), SampleTrial(TrialOf(1, 0))});
  for (Steps step = 1; step <= 20'000; ++step) {
    batch.Add(SampleMetric(AttemptOf(1, 0, 0), step, 0.5));
  }
  Commit(batch);
  // A deadline that has passed already: whatever takes over 4000 instructions is interrupted.
  const auto reader = DatabaseReader::Open(
      folder_ / "rung.db", {.read_timeout = std::chrono::milliseconds(0), .connections_max = 1});
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto metrics = (*reader)->ListMetrics({{1}, {}, "none", false, {}});
  EXPECT_EQ(metrics.status().code(), absl::StatusCode::kDeadlineExceeded) << metrics.status();
  EXPECT_TRUE((*reader)->GetTrial(TrialOf(1, 0), kNow).ok());
}

}  // namespace
}  // namespace rung
