#pragma once

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "rung/v1/tuner.grpc.pb.h"
#include "rung/v1/workers.grpc.pb.h"
#include "scheduler/service.h"

/// A real scheduler in a folder of its own, and both kinds of callers.
namespace rung {

inline constexpr std::string_view kAskTell = R"({
  "name": "ask-tell", "metric": "loss", "goal": "minimize", "seed": 1,
  "space": {"lr": {"uniform": [0.0, 1.0]}},
  "searcher": {"random": {"trials": 2}},
  "scheduler": {"asha": {"max_t": 4, "grace_period": 1, "reduction_factor": 2}}
})";

inline constexpr std::string_view kOnWorkers = R"({
  "name": "on-workers", "metric": "loss", "goal": "minimize",
  "space": {"lr": {"uniform": [0.0, 1.0]}},
  "searcher": {"random": {"trials": 1}},
  "trial": {"command": ["true", "{lr}"], "working_dir": "/"}
})";

/// A service with a home of its own, its loop on a thread, and a channel to it.
class ServiceTest : public ::testing::Test {
 protected:
  /// Held to the end of the process: gRPC's own end may wait 10 s for its backup poller.
  static void SetUpTestSuite() { grpc_init(); }

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
  bool Write(const v1::WorkerMessage& message) { return stream_->Write(message); }

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

}  // namespace rung
