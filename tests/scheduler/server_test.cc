#include "scheduler/server.h"

#include <absl/synchronization/mutex.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/event_queue.h"
#include "scheduler/spec_json.h"
#include "storage/memory_storage.h"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kDocument = R"({
  "metric": "loss", "goal": "minimize", "space": {"lr": {"uniform": [0, 1]}},
  "searcher": {"random": {"trials": 3}}})";

/// A MemoryStorage whose commits fail while it is told so.
class FailingStorage final : public Storage {
 public:
  absl::Status Commit(const WriteBatch& batch) override {
    const absl::MutexLock lock(&mutex_);
    ++commits_;
    if (!failure_.ok()) return failure_;
    return storage_.Commit(batch);
  }
  absl::StatusOr<Snapshot> Load() override {
    const absl::MutexLock lock(&mutex_);
    return storage_.Load();
  }
  absl::StatusOr<std::vector<MetricRow>> LoadObjective(ExperimentId experiment) override {
    const absl::MutexLock lock(&mutex_);
    return storage_.LoadObjective(experiment);
  }

  void Fail(absl::Status failure) {
    const absl::MutexLock lock(&mutex_);
    failure_ = std::move(failure);
  }
  size_t commits() const {
    const absl::MutexLock lock(&mutex_);
    return commits_;
  }
  MemoryTables tables() const {
    const absl::MutexLock lock(&mutex_);
    return storage_.tables();
  }

 private:
  mutable absl::Mutex mutex_;
  MemoryStorage storage_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  size_t commits_ ABSL_GUARDED_BY(mutex_) = 0;
};

/// Keeps what was delivered, and what storage had committed by then.
class RecordingSink final : public MessageSink {
 public:
  explicit RecordingSink(const FailingStorage& storage) : storage_(storage) {}

  void Deliver(Message message) override {
    const absl::MutexLock lock(&mutex_);
    if (auto* reply = std::get_if<Reply>(&message)) {
      experiments_then_.push_back(storage_.tables().experiments.size());
      replies_.push_back(std::move(*reply));
    }
  }
  void EndSessions() override {
    const absl::MutexLock lock(&mutex_);
    ++sessions_ended_;
  }

  /// Waits for `count` replies.
  std::vector<Reply> Replies(size_t count) {
    const absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return replies_.size() >= count;
    };
    mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60));
    return replies_;
  }
  std::vector<size_t> experiments_then() const {
    const absl::MutexLock lock(&mutex_);
    return experiments_then_;
  }
  int sessions_ended() const {
    const absl::MutexLock lock(&mutex_);
    return sessions_ended_;
  }

 private:
  const FailingStorage& storage_;
  mutable absl::Mutex mutex_;
  std::vector<Reply> replies_ ABSL_GUARDED_BY(mutex_);
  std::vector<size_t> experiments_then_ ABSL_GUARDED_BY(mutex_);
  int sessions_ended_ ABSL_GUARDED_BY(mutex_) = 0;
};

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() : sink_(storage_), server_(Config(), {}, storage_, sink_, [] { return Now{}; }) {}

  static ServerConfig Config() {
    return {.events_waiting_max = 4,
            .events_per_commit_max = 100,
            .tick_interval = std::chrono::milliseconds(200),
            .probe_interval = std::chrono::milliseconds(1)};
  }

  static Event Create(uint64_t token) {
    return CreateExperiment{.reply = {token},
                            .request_id = {},
                            .owner = "ada",
                            .document = std::string(kDocument),
                            .spec = *ParseExperimentSpec(kDocument)};
  }

  /// Runs the loop on what was posted, to its end.
  absl::Status RunToEnd() {
    server_.Stop();
    return server_.Run();
  }

  FailingStorage storage_;
  RecordingSink sink_;
  Server server_;
};

TEST_F(ServerTest, AnswersLeaveOnlyAfterTheCommitThatTheyPromise) {
  ASSERT_TRUE(server_.Restore().ok());
  for (const uint64_t token : {1u, 2u, 3u}) ASSERT_TRUE(server_.Post(Create(token)).ok());
  ASSERT_TRUE(RunToEnd().ok());
  ASSERT_THAT(sink_.Replies(3), SizeIs(3));
  // One batch: all three experiments were there when the first answer left.
  EXPECT_THAT(sink_.experiments_then(), ElementsAre(3, 3, 3));
  EXPECT_EQ(storage_.commits(), 1u);
  for (const Reply& reply : sink_.Replies(3)) EXPECT_TRUE(reply.value.ok());
}

TEST_F(ServerTest, AFullQueueRefusesTheCallerWhoMayTryAgain) {
  for (const uint64_t token : {1u, 2u, 3u, 4u}) ASSERT_TRUE(server_.Post(Create(token)).ok());
  EXPECT_EQ(server_.Post(Create(5)).code(), absl::StatusCode::kUnavailable);
}

TEST(EventQueue, TakesTheEndOfASessionEvenWhenItIsFull) {
  EventQueue queue(1);
  EXPECT_TRUE(queue.Post(Tick{}));
  EXPECT_FALSE(queue.Post(Tick{}));
  EXPECT_TRUE(queue.PostLast(WorkerDisconnected{.session = {1}}));
  const std::vector<Event> events = queue.Take(10, absl::ZeroDuration());
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<WorkerDisconnected>(events[1]));
}

TEST_F(ServerTest, AfterStopNothingIsTakenAnyMore) {
  ASSERT_TRUE(server_.Restore().ok());
  server_.Stop();
  EXPECT_EQ(server_.Post(Create(1)).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(server_.Run().ok());
}

TEST_F(ServerTest, AFailedCommitReleasesNothingAndTheStateIsRebuilt) {
  ASSERT_TRUE(server_.Restore().ok());
  std::thread loop([this] { EXPECT_TRUE(server_.Run().ok()); });
  ASSERT_TRUE(server_.Post(Create(1)).ok());
  EXPECT_TRUE(sink_.Replies(1)[0].value.ok());

  storage_.Fail(absl::ResourceExhaustedError("disk full"));
  ASSERT_TRUE(server_.Post(Create(2)).ok());
  const Reply refused = sink_.Replies(2)[1];
  EXPECT_EQ(refused.token.value, 2u);
  EXPECT_EQ(refused.value.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.value.status().message()), HasSubstr("disk full"));
  EXPECT_EQ(sink_.sessions_ended(), 1);
  // Writes are refused at once while it lasts.
  EXPECT_EQ(server_.Post(Create(3)).code(), absl::StatusCode::kUnavailable);

  storage_.Fail(absl::OkStatus());
  while (!server_.Post(Create(4)).ok()) std::this_thread::yield();
  const Reply after = sink_.Replies(3)[2];
  ASSERT_TRUE(after.value.ok());
  // The refused experiment left no trace: its number goes to the next.
  EXPECT_EQ(std::get<ExperimentCreated>(*after.value).experiment, ExperimentId{2});
  server_.Stop();
  loop.join();
  EXPECT_THAT(storage_.tables().experiments, SizeIs(2));
  const std::vector<EventRow> events = storage_.tables().events;
  const auto recovered = std::ranges::find(events, "storage_recovered", &EventRow::kind);
  ASSERT_NE(recovered, events.end());
  EXPECT_EQ(recovered->message, "commits failed: disk full");
}

TEST_F(ServerTest, CorruptionEndsTheLoopAndAnswersTheCallers) {
  ASSERT_TRUE(server_.Restore().ok());
  storage_.Fail(absl::DataLossError("malformed"));
  ASSERT_TRUE(server_.Post(Create(1)).ok());
  EXPECT_EQ(server_.Run().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(sink_.Replies(1)[0].value.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(server_.Post(Create(2)).ok());
}

TEST_F(ServerTest, AStopWhileTheStorageFailsEndsTheLoopWithTheReason) {
  ASSERT_TRUE(server_.Restore().ok());
  storage_.Fail(absl::UnavailableError("input/output error"));
  ASSERT_TRUE(server_.Post(Create(1)).ok());
  const absl::Status ended = RunToEnd();
  EXPECT_THAT(std::string(ended.message()), HasSubstr("input/output error"));
  EXPECT_EQ(sink_.Replies(1)[0].value.status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ServerTest, IdleTicksCommitNothing) {
  ASSERT_TRUE(server_.Restore().ok());
  server_.PostDisconnected(SessionId{1});
  ASSERT_TRUE(RunToEnd().ok());
  EXPECT_EQ(storage_.commits(), 0u);
}

TEST(EventQueue, TakesTheOldestFirstAndNoMoreThanAsked) {
  EventQueue queue(10);
  for (const uint64_t session : {1u, 2u, 3u}) {
    ASSERT_TRUE(queue.Post(WorkerHeartbeat{.session = {session}}));
  }
  const std::vector<Event> taken = queue.Take(2, absl::ZeroDuration());
  ASSERT_THAT(taken, SizeIs(2));
  EXPECT_EQ(std::get<WorkerHeartbeat>(taken[0]).session, SessionId{1});
  EXPECT_THAT(queue.Take(2, absl::ZeroDuration()), SizeIs(1));
  EXPECT_THAT(queue.Take(2, absl::ZeroDuration()), IsEmpty());
}

}  // namespace
}  // namespace rung
