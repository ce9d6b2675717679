#include "scheduler/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/scheduler/service_fixture.h"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

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

}  // namespace
}  // namespace rung
