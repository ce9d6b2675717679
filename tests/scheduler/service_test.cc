#include "scheduler/service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rung/v1/tuner.grpc.pb.h"
#include "rung/v1/workers.grpc.pb.h"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::string_view kAskTell = R"({
  "name": "ask-tell", "metric": "loss", "goal": "minimize", "seed": 1,
  "space": {"lr": {"uniform": [0.0, 1.0]}},
  "searcher": {"random": {"trials": 2}},
  "scheduler": {"asha": {"max_t": 4, "grace_period": 1, "reduction_factor": 2}}
})";

constexpr std::string_view kOnWorkers = R"({
  "name": "on-workers", "metric": "loss", "goal": "minimize",
  "space": {"lr": {"uniform": [0.0, 1.0]}},
  "searcher": {"random": {"trials": 1}},
  "trial": {"command": ["true", "{lr}"], "working_dir": "/"}
})";

/// A service with a home of its own, its loop on a thread, and a channel to it.
class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    config_.listen = {"127.0.0.1:0"};
    Start();
  }

  void TearDown() override {
    Stop();
    std::filesystem::remove_all(folder_);
  }

  void Start() {
    const auto home = ServiceHome::Open(folder_ / "home");
    ASSERT_TRUE(home.ok()) << home.status();
    auto service = Service::Start(*home, config_);
    ASSERT_TRUE(service.ok()) << service.status();
    service_ = *std::move(service);
    loop_ = std::thread([this] { EXPECT_TRUE(service_->Run().ok()); });
    channel_ = Connect(service_->addresses()[0]);
    tuner_ = v1::Tuner::NewStub(channel_);
  }

  void Stop() {
    if (service_ == nullptr) return;
    service_->Stop();
    loop_.join();
    service_.reset();
  }

  static std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }

  /// A call that hangs fails the test instead of the whole run.
  static void Patience(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    context.set_wait_for_ready(true);
  }

  template <typename Method, typename Request, typename Response>
  grpc::Status Call(Method method, const Request& request, Response* response) {
    grpc::ClientContext context;
    Patience(context);
    return (tuner_.get()->*method)(&context, request, response);
  }

  grpc::Status Create(std::string_view document, const std::string& request_id, int64_t* id) {
    v1::CreateExperimentRequest request;
    request.set_document(std::string(document));
    request.set_request_id(request_id);
    v1::CreateExperimentResponse response;
    const grpc::Status status = Call(&v1::Tuner::Stub::CreateExperiment, request, &response);
    *id = response.experiment_id();
    return status;
  }

  int64_t CreateAskTell() {
    int64_t id = 0;
    const grpc::Status status = Create(kAskTell, "", &id);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return id;
  }

  v1::Experiment Get(int64_t id) {
    v1::GetExperimentRequest request;
    request.set_experiment_id(id);
    v1::Experiment experiment;
    EXPECT_TRUE(Call(&v1::Tuner::Stub::GetExperiment, request, &experiment).ok());
    return experiment;
  }

  v1::StartTrialResponse StartTrial(int64_t experiment) {
    v1::StartTrialRequest request;
    request.set_experiment_id(experiment);
    v1::StartTrialResponse response;
    const grpc::Status status = Call(&v1::Tuner::Stub::StartTrial, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  static v1::ReportRequest LossAt(const v1::AttemptId& attempt, int64_t step, double loss) {
    v1::ReportRequest request;
    *request.mutable_attempt() = attempt;
    request.set_step(step);
    v1::MetricValue& metric = *request.add_metrics();
    metric.set_name("loss");
    metric.set_value(loss);
    return request;
  }

  std::filesystem::path folder_;
  ServiceConfig config_;
  std::unique_ptr<Service> service_;
  std::thread loop_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Tuner::Stub> tuner_;
};

TEST_F(ServiceTest, AnAskTellExperimentRunsFromItsDocumentToItsEnd) {
  const int64_t id = CreateAskTell();

  // Levels 1 and 2. The second trial's 0.5 at level 1 is worse than the cutoff 0.25 of one value.
  const v1::StartTrialResponse first = StartTrial(id);
  ASSERT_EQ(first.outcome(), v1::StartTrialResponse::OUTCOME_TRIAL);
  EXPECT_EQ(first.max_step(), 4);
  v1::ReportResponse answer;
  ASSERT_TRUE(Call(&v1::Tuner::Stub::Report, LossAt(first.attempt(), 1, 0.25), &answer).ok());
  EXPECT_EQ(answer.decision(), v1::DECISION_CONTINUE);
  const v1::StartTrialResponse second = StartTrial(id);
  ASSERT_TRUE(Call(&v1::Tuner::Stub::Report, LossAt(second.attempt(), 1, 0.5), &answer).ok());
  EXPECT_EQ(answer.decision(), v1::DECISION_STOP);

  v1::Empty empty;
  for (const v1::AttemptId& attempt : {first.attempt(), second.attempt()}) {
    v1::FinishTrialRequest finish;
    *finish.mutable_attempt() = attempt;
    ASSERT_TRUE(Call(&v1::Tuner::Stub::FinishTrial, finish, &empty).ok());
  }
  EXPECT_EQ(StartTrial(id).outcome(), v1::StartTrialResponse::OUTCOME_FINISHED);

  const v1::Experiment experiment = Get(id);
  EXPECT_EQ(experiment.state(), v1::EXPERIMENT_STATE_COMPLETED);
  EXPECT_EQ(experiment.trials().completed(), 1);
  EXPECT_EQ(experiment.trials().stopped(), 1);
  EXPECT_EQ(experiment.best().best_value(), 0.25);
  v1::ListDecisionsRequest list;
  list.set_experiment_id(id);
  v1::ListDecisionsResponse decisions;
  ASSERT_TRUE(Call(&v1::Tuner::Stub::ListDecisions, list, &decisions).ok());
  ASSERT_THAT(decisions.decisions(), SizeIs(2));
  EXPECT_EQ(decisions.decisions(1).cutoff(), 0.25);
}

TEST_F(ServiceTest, ARepeatedRequestIdGetsTheFirstAnswerAlsoAfterARestart) {
  int64_t first = 0;
  int64_t again = 0;
  ASSERT_TRUE(Create(kAskTell, "request-1", &first).ok());
  ASSERT_TRUE(Create(kAskTell, "request-1", &again).ok());
  EXPECT_EQ(again, first);
  Stop();
  Start();
  ASSERT_TRUE(Create(kAskTell, "request-1", &again).ok());
  EXPECT_EQ(again, first);
  EXPECT_EQ(Get(first).state(), v1::EXPERIMENT_STATE_ACTIVE);
}

TEST_F(ServiceTest, WhatIsWrongIsRefusedWithItsPathAndCreatesNothing) {
  int64_t id = 0;
  const grpc::Status status = Create(R"({"metric": "loss", "goal": "min"})", "", &id);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "space: missing, must be an object of parameters");
  EXPECT_EQ(Create(kAskTell, std::string(129, 'x'), &id).error_message(),
            "request_id: must be at most 128 bytes, found 129");
  v1::ListExperimentsResponse list;
  ASSERT_TRUE(Call(&v1::Tuner::Stub::ListExperiments, v1::ListExperimentsRequest(), &list).ok());
  EXPECT_THAT(list.experiments(), SizeIs(0));
}

TEST_F(ServiceTest, ValidateGivesThePlanWarningsAndTheFirstConfigurations) {
  v1::ValidateRequest request;
  request.set_document(std::string(kAskTell));
  request.set_samples(3);
  v1::ValidateResponse response;
  ASSERT_TRUE(Call(&v1::Tuner::Stub::Validate, request, &response).ok());
  EXPECT_EQ(response.planned_trials(), 2);
  EXPECT_THAT(response.plan_json(), HasSubstr("\"max_step\""));
  ASSERT_THAT(response.sample_params_json(), SizeIs(2));
  EXPECT_THAT(response.warnings(), ElementsAre(HasSubstr("no `trial`")));
  const int64_t id = CreateAskTell();
  EXPECT_EQ(id, 1);  // Validate created none
  EXPECT_EQ(StartTrial(id).params_json(), response.sample_params_json(0));
}

TEST_F(ServiceTest, WhatIsNotBuiltYetSaysSo) {
  v1::ExperimentRequest request;
  request.set_experiment_id(1);
  v1::Empty empty;
  const grpc::Status status = Call(&v1::Tuner::Stub::PauseExperiment, request, &empty);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(status.error_message(), "pausing an experiment comes with a later version");
}

TEST_F(ServiceTest, TcpNeedsATokenOfTheTokenFile) {
  ASSERT_THAT(service_->addresses(), SizeIs(2));
  const auto tuner = v1::Tuner::NewStub(Connect(service_->addresses()[1]));
  std::string line;
  std::ifstream tokens(folder_ / "home" / "token");
  ASSERT_TRUE(std::getline(tokens, line));
  const std::string secret = line.substr(line.find(':') + 1);
  const auto code_with = [&](const std::string& authorization) {
    grpc::ClientContext context;
    Patience(context);
    if (!authorization.empty()) context.AddMetadata("authorization", authorization);
    v1::GetServerInfoResponse response;
    return tuner->GetServerInfo(&context, {}, &response).error_code();
  };
  EXPECT_EQ(code_with(""), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code_with("Bearer wrong"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code_with(secret), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code_with("Bearer " + secret), grpc::StatusCode::OK);
}

TEST_F(ServiceTest, AnInvalidTokenEndsStreamsToo) {
  const auto workers = v1::Workers::NewStub(Connect(service_->addresses()[1]));
  grpc::ClientContext context;
  Patience(context);
  const auto stream = workers->Session(&context);
  v1::SchedulerMessage message;
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ServiceTest, ASecondSchedulerOnTheSameStateIsToldWhoHasIt) {
  const auto home = ServiceHome::Open(folder_ / "home");
  const auto second = Service::Start(*home, config_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("rung.db"));
  ServiceConfig elsewhere = config_;
  elsewhere.database = folder_ / "other.db";
  const auto third = Service::Start(*home, elsewhere);
  ASSERT_FALSE(third.ok());
  EXPECT_THAT(std::string(third.status().message()), HasSubstr("another scheduler answers on"));
}

TEST_F(ServiceTest, AnAddressInUseIsNamed) {
  const auto home = ServiceHome::Open(folder_ / "second");
  ServiceConfig config;
  config.listen = {service_->addresses()[1]};
  const auto second = Service::Start(*home, config);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("cannot listen on " + service_->addresses()[1]));
}

TEST_F(ServiceTest, TheStaleSocketOfAKilledSchedulerIsReplaced) {
  Stop();
  const std::filesystem::path path = folder_ / "home" / "rung.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(fd);  // as a kill leaves it: the file is there, nobody listens
  Start();
  EXPECT_EQ(Get(CreateAskTell()).id(), 1);
  struct stat status {};
  ASSERT_EQ(stat((folder_ / "home" / "rung.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077, 0u);
}

TEST_F(ServiceTest, ReportsOnAStreamAreAnsweredInOrderRefusedOnesIncluded) {
  const int64_t id = CreateAskTell();
  const v1::StartTrialResponse trial = StartTrial(id);
  grpc::ClientContext context;
  Patience(context);
  const auto stream = tuner_->StreamReports(&context);
  for (const int64_t step : {1, -1, 2, 4}) {
    ASSERT_TRUE(stream->Write(LossAt(trial.attempt(), step, 0.5)));
  }
  stream->WritesDone();
  std::vector<std::string> answers;
  for (v1::ReportResponse response; stream->Read(&response);) {
    answers.push_back(response.error().empty() ? v1::Decision_Name(response.decision())
                                               : response.error());
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_THAT(answers, ElementsAre("DECISION_CONTINUE", "step: must be at least 0, found -1",
                                   "DECISION_CONTINUE", "DECISION_STOP"));
}

TEST_F(ServiceTest, AWatcherSeesTheStateAndTheEnd) {
  const int64_t id = CreateAskTell();
  grpc::ClientContext context;
  Patience(context);
  v1::WatchExperimentRequest request;
  request.set_experiment_id(id);
  request.set_interval_ms(100);
  const auto stream = tuner_->WatchExperiment(&context, request);
  v1::WatchExperimentResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.experiment().state(), v1::EXPERIMENT_STATE_ACTIVE);
  v1::ExperimentRequest stop;
  stop.set_experiment_id(id);
  v1::Empty empty;
  ASSERT_TRUE(Call(&v1::Tuner::Stub::StopExperiment, stop, &empty).ok());
  v1::ExperimentState last = v1::EXPERIMENT_STATE_UNSPECIFIED;
  while (stream->Read(&response)) last = response.experiment().state();
  EXPECT_EQ(last, v1::EXPERIMENT_STATE_STOPPED);
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ServiceTest, WatchingWhatDoesNotExistIsNotFound) {
  grpc::ClientContext context;
  Patience(context);
  v1::WatchExperimentRequest request;
  request.set_experiment_id(99);
  const auto stream = tuner_->WatchExperiment(&context, request);
  v1::WatchExperimentResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

/// The worker's end of a session.
class WorkerStream {
 public:
  explicit WorkerStream(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::Workers::NewStub(channel)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    context_.set_wait_for_ready(true);
    stream_ = stub_->Session(&context_);
  }

  void Hello(const std::string& name, const std::string& version = RUNG_VERSION) {
    v1::WorkerMessage message;
    v1::Hello& hello = *message.mutable_hello();
    hello.set_name(name);
    hello.set_incarnation("first");
    hello.set_host("127.0.0.1");
    hello.set_version(version);
    hello.mutable_total()->set_milli_cpus(1000);
    stream_->Write(message);
  }
  void Write(const v1::WorkerMessage& message) { stream_->Write(message); }

  /// The next message; empty when the stream ended.
  v1::SchedulerMessage Read() {
    v1::SchedulerMessage message;
    if (!stream_->Read(&message)) message.Clear();
    return message;
  }
  grpc::Status Finish() { return stream_->Finish(); }
  v1::Workers::Stub& stub() { return *stub_; }

 private:
  std::unique_ptr<v1::Workers::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::SchedulerMessage>> stream_;
};

TEST_F(ServiceTest, AWorkerIsWelcomedAndRunsATrialToItsEnd) {
  WorkerStream worker(channel_);
  worker.Hello("w1");
  const v1::SchedulerMessage welcome = worker.Read();
  ASSERT_TRUE(welcome.has_welcome());
  EXPECT_EQ(welcome.welcome().lease_ms(), 30'000);
  EXPECT_EQ(welcome.welcome().heartbeat_ms(), 5'000);

  int64_t id = 0;
  ASSERT_TRUE(Create(kOnWorkers, "", &id).ok());
  const v1::SchedulerMessage start = worker.Read();
  ASSERT_TRUE(start.has_start_attempt());
  const v1::AttemptId attempt = start.start_attempt().attempt();
  EXPECT_THAT(start.start_attempt().trial().command(), ElementsAre("true", "{lr}"));

  v1::WorkerMessage report;
  report.mutable_report()->set_report_id(7);
  *report.mutable_report()->mutable_attempt() = attempt;
  report.mutable_report()->set_step(1);
  v1::MetricValue& metric = *report.mutable_report()->add_metrics();
  metric.set_name("loss");
  metric.set_value(0.5);
  worker.Write(report);
  const v1::SchedulerMessage answer = worker.Read();
  ASSERT_TRUE(answer.has_answer_report());
  EXPECT_THAT(answer.answer_report().report_ids(), ElementsAre(7u));
  EXPECT_EQ(answer.answer_report().decision(), v1::DECISION_CONTINUE);

  // A report that cannot be read is refused for itself; the session goes on.
  report.mutable_report()->set_report_id(8);
  report.mutable_report()->set_rank(-1);
  worker.Write(report);
  EXPECT_EQ(worker.Read().answer_report().error(), "rank: must be from 0 to 1023, found -1");

  v1::WorkerMessage exited;
  *exited.mutable_attempt_exited()->mutable_attempt() = attempt;
  exited.mutable_attempt_exited()->set_cause(v1::EXIT_CAUSE_COMPLETED);
  exited.mutable_attempt_exited()->set_failed_rank(-1);
  worker.Write(exited);
  EXPECT_TRUE(worker.Read().has_acknowledge_exit());
  EXPECT_EQ(Get(id).state(), v1::EXPERIMENT_STATE_COMPLETED);
  v1::ListWorkersResponse workers;
  ASSERT_TRUE(Call(&v1::Tuner::Stub::ListWorkers, v1::ListWorkersRequest(), &workers).ok());
  ASSERT_THAT(workers.workers(), SizeIs(1));
  EXPECT_EQ(workers.workers(0).free().milli_cpus(), 1000);
}

TEST_F(ServiceTest, AWorkerOfAnotherVersionOrWithoutHelloIsRefused) {
  WorkerStream other(channel_);
  other.Hello("w1", "9.0.0");
  EXPECT_EQ(other.Read().message_case(), v1::SchedulerMessage::MESSAGE_NOT_SET);
  EXPECT_THAT(other.Finish().error_message(), HasSubstr("one minor version of difference"));
  WorkerStream rude(channel_);
  v1::WorkerMessage heartbeat;
  heartbeat.mutable_heartbeat();
  rude.Write(heartbeat);
  EXPECT_EQ(rude.Read().message_case(), v1::SchedulerMessage::MESSAGE_NOT_SET);
  EXPECT_THAT(rude.Finish().error_message(), HasSubstr("must be Hello"));
}

TEST_F(ServiceTest, ASecondWorkerOfOneNameIsRefused) {
  WorkerStream first(channel_);
  first.Hello("w1");
  ASSERT_TRUE(first.Read().has_welcome());
  WorkerStream second(channel_);
  v1::WorkerMessage message;
  message.mutable_hello()->set_name("w1");
  message.mutable_hello()->set_incarnation("second");
  message.mutable_hello()->set_version(RUNG_VERSION);
  second.Write(message);
  EXPECT_EQ(second.Read().message_case(), v1::SchedulerMessage::MESSAGE_NOT_SET);
  EXPECT_EQ(second.Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

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
