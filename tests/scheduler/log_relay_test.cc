#include "scheduler/log_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "tests/scheduler/service_fixture.h"

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class LogTest : public ServiceTest {
 protected:
  /// Starts the one trial of kOnWorkers on `worker`; its attempt.
  v1::AttemptId StartOn(WorkerStream& worker) {
    worker.Hello("w1");
    EXPECT_TRUE(worker.Read().has_welcome());
    EXPECT_TRUE(Create(kOnWorkers, "", &experiment_).ok());
    return worker.Read().start_attempt().attempt();
  }

  std::unique_ptr<grpc::ClientReader<v1::StreamLogsResponse>> Read(grpc::ClientContext& context) {
    Patience(context);
    v1::StreamLogsRequest request;
    request.set_experiment_id(experiment_);
    return tuner_->StreamLogs(&context, request);
  }

  int64_t experiment_ = 0;
};

TEST_F(LogTest, ALogComesFromItsWorkerPieceByPiece) {
  WorkerStream worker(channel_);
  StartOn(worker);
  grpc::ClientContext context;
  const auto reader = Read(context);
  const v1::SchedulerMessage fetch = worker.Read();
  ASSERT_TRUE(fetch.has_fetch_log());
  grpc::ClientContext upload_context;
  Patience(upload_context);
  v1::UploadLogResponse response;
  const auto upload = worker.stub().UploadLog(&upload_context, &response);
  // More than the relay buffers (1 MiB), so that the worker has to wait for the reader.
  const int pieces = 40;
  std::thread writer([&] {
    for (int i = 0; i < pieces; ++i) {
      v1::UploadLogRequest piece;
      piece.set_fetch_id(fetch.fetch_log().fetch_id());
      piece.set_data(std::string(60'000, static_cast<char>('a' + i % 26)));
      if (!upload->Write(piece)) break;
    }
    upload->WritesDone();
  });
  size_t bytes = 0;
  for (v1::StreamLogsResponse piece; reader->Read(&piece);) {
    EXPECT_EQ(piece.worker(), "w1");
    bytes += piece.data().size();
  }
  writer.join();
  EXPECT_TRUE(upload->Finish().ok());
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(bytes, 60'000u * pieces);
}

TEST_F(LogTest, AReaderThatLeavesEndsTheFetch) {
  WorkerStream worker(channel_);
  StartOn(worker);
  grpc::ClientContext context;
  const auto reader = Read(context);
  const v1::SchedulerMessage fetch = worker.Read();
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  const v1::SchedulerMessage cancel = worker.Read();
  ASSERT_TRUE(cancel.has_fetch_log());
  EXPECT_TRUE(cancel.fetch_log().cancel());
  EXPECT_EQ(cancel.fetch_log().fetch_id(), fetch.fetch_log().fetch_id());
}

TEST_F(LogTest, AWorkersErrorReachesTheReader) {
  WorkerStream worker(channel_);
  StartOn(worker);
  grpc::ClientContext context;
  const auto reader = Read(context);
  const v1::SchedulerMessage fetch = worker.Read();
  grpc::ClientContext upload_context;
  Patience(upload_context);
  v1::UploadLogResponse response;
  const auto upload = worker.stub().UploadLog(&upload_context, &response);
  v1::UploadLogRequest piece;
  piece.set_fetch_id(fetch.fetch_log().fetch_id());
  piece.set_error("the file is gone");
  upload->Write(piece);
  upload->WritesDone();
  v1::StreamLogsResponse data;
  EXPECT_FALSE(reader->Read(&data));
  EXPECT_EQ(reader->Finish().error_message(), "worker \"w1\": the file is gone");
  EXPECT_TRUE(upload->Finish().ok());
}

TEST_F(LogTest, AWorkerThatIsGoneIsNamedUnlessTheDatabaseHasTheStderr) {
  v1::AttemptId attempt;
  {
    WorkerStream worker(channel_);
    attempt = StartOn(worker);
  }
  Stop();  // a restart: the worker has not come back yet
  Start();
  {
    grpc::ClientContext context;
    const auto reader = Read(context);
    v1::StreamLogsResponse data;
    EXPECT_FALSE(reader->Read(&data));
    const grpc::Status status = reader->Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_THAT(status.error_message(), HasSubstr("is on worker \"w1\""));
  }
  {
    WorkerStream worker(channel_);
    v1::WorkerMessage hello;
    hello.mutable_hello()->set_name("w1");
    hello.mutable_hello()->set_incarnation("first");
    hello.mutable_hello()->set_version(RUNG_VERSION);
    v1::HeldAttempt& held = *hello.mutable_hello()->add_held();
    *held.mutable_attempt() = attempt;
    held.set_state(v1::ATTEMPT_STATE_RUNNING);
    worker.Write(hello);
    EXPECT_THAT(worker.Read().welcome().keep(), SizeIs(1));
    v1::WorkerMessage exited;
    v1::AttemptExited& exit = *exited.mutable_attempt_exited();
    *exit.mutable_attempt() = attempt;
    exit.set_cause(v1::EXIT_CAUSE_FAILED);
    exit.set_exit_code(1);
    v1::LogTail& tail = *exit.add_stderr_tails();
    tail.set_text("Traceback: \xc3\xa9\n");
    worker.Write(exited);
    EXPECT_TRUE(worker.Read().has_acknowledge_exit());
  }
  Stop();
  Start();
  grpc::ClientContext context;
  const auto reader = Read(context);
  v1::StreamLogsResponse data;
  ASSERT_TRUE(reader->Read(&data));
  EXPECT_EQ(data.data(), "Traceback: \xc3\xa9\n");
  EXPECT_FALSE(reader->Read(&data));
  EXPECT_TRUE(reader->Finish().ok());
}

}  // namespace
}  // namespace rung
