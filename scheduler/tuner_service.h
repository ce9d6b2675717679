#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <string>

#include "rung/v1/tuner.grpc.pb.h"
#include "scheduler/caller.h"
#include "scheduler/experiment_watches.h"
#include "scheduler/log_relay.h"
#include "scheduler/read_pool.h"
#include "scheduler/reply_table.h"
#include "scheduler/report_streams.h"
#include "scheduler/server.h"
#include "storage/database_reader.h"

namespace rung {

/// What the calls of clients need; all outlive the service.
struct TunerParts {
  const CallerCheck& callers;
  Server& server;
  ReplyTable& replies;
  const DatabaseReader& reader;
  ReadPool& pool;
  ExperimentWatches& watches;
  LogRelay& logs;
  ReportStreams& reports;
  Server::Clock clock;
  const v1::GetServerInfoResponse& info;
};

/// Service Tuner: a writing call becomes an event of the loop, a reading one a job of the pool. No
/// call waits on gRPC's threads.
class TunerService final : public v1::Tuner::CallbackService {
 public:
  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  explicit TunerService(TunerParts parts) : parts_(std::move(parts)) {}

  Unary* CreateExperiment(Context* context, const v1::CreateExperimentRequest* request,
                          v1::CreateExperimentResponse* response) override;
  Unary* Validate(Context* context, const v1::ValidateRequest* request,
                  v1::ValidateResponse* response) override;

  Unary* GetExperiment(Context* context, const v1::GetExperimentRequest* request,
                       v1::Experiment* response) override;
  Unary* ListExperiments(Context* context, const v1::ListExperimentsRequest* request,
                         v1::ListExperimentsResponse* response) override;
  Unary* StopExperiment(Context* context, const v1::ExperimentRequest* request,
                        v1::Empty* response) override;
  Unary* PauseExperiment(Context* context, const v1::ExperimentRequest* request,
                         v1::Empty* response) override;
  Unary* ResumeExperiment(Context* context, const v1::ExperimentRequest* request,
                          v1::Empty* response) override;
  Unary* DeleteExperiment(Context* context, const v1::ExperimentRequest* request,
                          v1::Empty* response) override;

  Unary* GetTrial(Context* context, const v1::GetTrialRequest* request,
                  v1::Trial* response) override;
  Unary* ListTrials(Context* context, const v1::ListTrialsRequest* request,
                    v1::ListTrialsResponse* response) override;
  Unary* ListMetrics(Context* context, const v1::ListMetricsRequest* request,
                     v1::ListMetricsResponse* response) override;
  Unary* ListDecisions(Context* context, const v1::ListDecisionsRequest* request,
                       v1::ListDecisionsResponse* response) override;
  Unary* StopTrial(Context* context, const v1::TrialRequest* request, v1::Empty* response) override;
  Unary* PauseTrial(Context* context, const v1::TrialRequest* request,
                    v1::Empty* response) override;
  Unary* ResumeTrial(Context* context, const v1::TrialRequest* request,
                     v1::Empty* response) override;
  Unary* RetryTrial(Context* context, const v1::TrialRequest* request,
                    v1::Empty* response) override;

  grpc::ServerWriteReactor<v1::WatchExperimentResponse>* WatchExperiment(
      Context* context, const v1::WatchExperimentRequest* request) override;
  grpc::ServerWriteReactor<v1::StreamLogsResponse>* StreamLogs(
      Context* context, const v1::StreamLogsRequest* request) override;

  Unary* ListWorkers(Context* context, const v1::ListWorkersRequest* request,
                     v1::ListWorkersResponse* response) override;
  Unary* DrainWorker(Context* context, const v1::DrainWorkerRequest* request,
                     v1::Empty* response) override;

  Unary* StartTrial(Context* context, const v1::StartTrialRequest* request,
                    v1::StartTrialResponse* response) override;
  Unary* Report(Context* context, const v1::ReportRequest* request,
                v1::ReportResponse* response) override;
  grpc::ServerBidiReactor<v1::ReportRequest, v1::ReportResponse>* StreamReports(
      Context* context) override;
  Unary* KeepAlive(Context* context, const v1::KeepAliveRequest* request,
                   v1::Empty* response) override;
  Unary* FinishTrial(Context* context, const v1::FinishTrialRequest* request,
                     v1::Empty* response) override;

  Unary* GetServerInfo(Context* context, const v1::GetServerInfoRequest* request,
                       v1::GetServerInfoResponse* response) override;

 private:
  /// The event of a writing call; `token` names the caller, `owner` is who calls.
  using Decode = std::function<absl::StatusOr<Event>(ReplyToken token, const std::string& owner)>;
  /// Fills in the response from the answer.
  using Fill = std::function<void(const ReplyValue& value)>;

  Unary* Write(Context* context, const Decode& decode, Fill fill);
  Unary* Read(Context* context, std::function<absl::Status()> read);
  Unary* ComesLater(Context* context, std::string_view what);

  const TunerParts parts_;
};

}  // namespace rung
