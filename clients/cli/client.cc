#include "clients/cli/client.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "proto/version.h"
#include "rung/v1/tuner.grpc.pb.h"

namespace rung::cli {
namespace {

constexpr std::chrono::milliseconds kCallTimeout{20'000};
constexpr std::chrono::milliseconds kRepeatPause{300};
constexpr int kWriteTries = 3;
constexpr int32_t kTrialsPerPage = 1000;
constexpr int32_t kMetricsPerPage = 10'000;
constexpr int kMessageBytesMax = 64 << 20;

using Stub = pb::Tuner::Stub;

std::string NewRequestId() {
  std::random_device device;
  std::string id = "cli-";
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", device());
  return id;
}

// gRPC's "failed to connect to all addresses; last error: UNKNOWN: unix:/path: No such file"
// without what the person knows already.
std::string Cause(const std::string& message) {
  const size_t colon = message.rfind(": ");
  const bool connecting = message.starts_with("failed to connect to all addresses");
  return connecting && colon != std::string::npos ? message.substr(colon + 2) : message;
}

// Whether gRPC itself says UNAVAILABLE, rather than a service that answered with its own reason.
bool NobodyAnswered(const std::string& message) {
  return message.starts_with("failed to connect to all addresses") ||
         message.starts_with("DNS resolution failed");
}

std::shared_ptr<grpc::Channel> MakeChannel(const Address& address) {
  // gRPC's own lines on stderr would be in the way of the message that says what to do.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  return grpc::CreateCustomChannel(address.target, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

struct Client::Connection {
  explicit Connection(const Address& address)
      : channel(MakeChannel(address)), stub(pb::Tuner::NewStub(channel)) {}

  static void Introduce(grpc::ClientContext& context, const Address& address) {
    context.AddMetadata(kVersionMetadata, RUNG_VERSION);
    if (!address.token.empty())
      context.AddMetadata("authorization", fmt::format("Bearer {}", address.token));
  }

  /// What a service says of itself once it has begun to answer; one that says nothing is taken.
  static absl::Status CheckService(const grpc::ClientContext& context, const Address& address) {
    const auto& metadata = context.GetServerInitialMetadata();
    const auto version = metadata.find(kVersionMetadata);
    if (version == metadata.end()) return absl::OkStatus();
    return CheckVersions({fmt::format("the service at {}", address.target),
                          {version->second.data(), version->second.size()}},
                         {"rung", RUNG_VERSION});
  }

  /// Of a call that has ended. absl's codes are gRPC's.
  static absl::Status ToStatus(const grpc::Status& status, const grpc::ClientContext& context,
                               const Address& address) {
    absl::Status fits = CheckService(context, address);
    if (!fits.ok() || status.ok()) return fits;
    const std::string& message = status.error_message();
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE && !NobodyAnswered(message)) {
      return absl::UnavailableError(
          fmt::format("the rung service at {} cannot do this now: {}", address.target, message));
    }
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      return absl::UnavailableError(
          fmt::format("no rung service answers at {} ({}): {}", address.target, Cause(message),
                      address.local ? "start one on this machine with `rung local up`"
                                    : "check --server or RUNG_SERVER, and that it runs"));
    }
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
      return absl::DeadlineExceededError(
          fmt::format("the rung service at {} gave no answer in time", address.target));
    }
    if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) {
      return absl::UnauthenticatedError(fmt::format(
          "{} (the token is read from --token-file, else from `token` in the home folder)",
          message));
    }
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), message);
  }

  std::shared_ptr<grpc::Channel> channel;  // shared: gRPC's own interface
  std::unique_ptr<Stub> stub;
};

Client::Client(const Address& address)
    : address_(address), connection_(std::make_unique<Connection>(address)) {}
Client::~Client() = default;

template <typename Request, typename Response, typename Method>
absl::Status Client::Call(Method method, const Request& request, Response* response,
                          std::chrono::milliseconds timeout) {
  grpc::ClientContext context;
  Connection::Introduce(context, address_);
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  const grpc::Status status = ((*connection_->stub).*method)(&context, request, response);
  return Connection::ToStatus(status, context, address_);
}

template <typename Request, typename Response, typename Method>
absl::Status Client::Write(Method method, Request request, Response* response) {
  request.set_request_id(NewRequestId());
  for (int tries = 1;; ++tries) {
    const absl::Status status = Call(method, request, response, kCallTimeout);
    if (!absl::IsUnavailable(status) || tries == kWriteTries) return status;
    std::this_thread::sleep_for(kRepeatPause);
  }
}

template <typename Request, typename Response, typename Method, typename Page>
absl::Status Client::ForEachPage(Method method, Request request, Page page) {
  request.clear_page_token();
  while (true) {
    Response response;
    const absl::Status status = Call(method, request, &response, kCallTimeout);
    if (!status.ok()) return status;
    if (!page(response) || response.next_page_token().empty()) return absl::OkStatus();
    if (response.next_page_token() == request.page_token()) {
      return absl::InternalError("the service returned the same page twice");
    }
    request.set_page_token(response.next_page_token());
  }
}

absl::StatusOr<int64_t> Client::CreateExperiment(const std::string& document,
                                                 const std::string& working_dir) {
  pb::CreateExperimentRequest request;
  request.set_document(document);
  request.set_working_dir(working_dir);
  pb::CreateExperimentResponse response;
  const absl::Status status = Write(&Stub::CreateExperiment, request, &response);
  if (!status.ok()) return status;
  return response.experiment_id();
}

absl::StatusOr<pb::ValidateResponse> Client::Validate(const pb::ValidateRequest& request) {
  pb::ValidateResponse response;
  const absl::Status status = Call(&Stub::Validate, request, &response, kCallTimeout);
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<pb::Experiment> Client::GetExperiment(int64_t experiment_id) {
  pb::GetExperimentRequest request;
  request.set_experiment_id(experiment_id);
  pb::Experiment response;
  const absl::Status status = Call(&Stub::GetExperiment, request, &response, kCallTimeout);
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<std::vector<pb::Experiment>> Client::ListExperiments(const std::string& name) {
  pb::ListExperimentsRequest request;
  request.set_page_size(kTrialsPerPage);
  request.set_name(name);
  std::vector<pb::Experiment> experiments;
  const absl::Status status = ForEachPage<pb::ListExperimentsRequest, pb::ListExperimentsResponse>(
      &Stub::ListExperiments, request, [&](const pb::ListExperimentsResponse& page) {
        experiments.insert(experiments.end(), page.experiments().begin(), page.experiments().end());
        return true;
      });
  if (!status.ok()) return status;
  return experiments;
}

absl::Status Client::StopExperiment(int64_t experiment_id) {
  pb::ExperimentRequest request;
  request.set_experiment_id(experiment_id);
  pb::Empty response;
  return Write(&Stub::StopExperiment, request, &response);
}

absl::StatusOr<pb::Trial> Client::GetTrial(int64_t experiment_id, int32_t trial_number) {
  pb::GetTrialRequest request;
  request.set_experiment_id(experiment_id);
  request.set_trial_number(trial_number);
  pb::Trial response;
  const absl::Status status = Call(&Stub::GetTrial, request, &response, kCallTimeout);
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<std::vector<pb::Trial>> Client::ListTrials(pb::ListTrialsRequest request,
                                                          size_t limit) {
  const bool few = limit > 0 && limit < static_cast<size_t>(kTrialsPerPage);
  request.set_page_size(few ? static_cast<int32_t>(limit) : kTrialsPerPage);
  std::vector<pb::Trial> trials;
  const absl::Status status = ForEachPage<pb::ListTrialsRequest, pb::ListTrialsResponse>(
      &Stub::ListTrials, std::move(request), [&](const pb::ListTrialsResponse& page) {
        trials.insert(trials.end(), page.trials().begin(), page.trials().end());
        return limit == 0 || trials.size() < limit;
      });
  if (!status.ok()) return status;
  if (limit > 0 && trials.size() > limit) trials.resize(limit);
  return trials;
}

absl::Status Client::StopTrial(int64_t experiment_id, int32_t trial_number) {
  pb::TrialRequest request;
  request.set_experiment_id(experiment_id);
  request.set_trial_number(trial_number);
  pb::Empty response;
  return Write(&Stub::StopTrial, request, &response);
}

absl::Status Client::ForEachMetric(pb::ListMetricsRequest request,
                                   const std::function<void(const pb::Metric&)>& each) {
  request.set_page_size(kMetricsPerPage);
  return ForEachPage<pb::ListMetricsRequest, pb::ListMetricsResponse>(
      &Stub::ListMetrics, std::move(request), [&](const pb::ListMetricsResponse& page) {
        for (const pb::Metric& metric : page.metrics()) each(metric);
        return true;
      });
}

absl::StatusOr<std::vector<pb::DecisionRow>> Client::ListDecisions(
    pb::ListDecisionsRequest request) {
  request.set_page_size(kTrialsPerPage);
  std::vector<pb::DecisionRow> rows;
  const absl::Status status = ForEachPage<pb::ListDecisionsRequest, pb::ListDecisionsResponse>(
      &Stub::ListDecisions, std::move(request), [&](const pb::ListDecisionsResponse& page) {
        rows.insert(rows.end(), page.decisions().begin(), page.decisions().end());
        return true;
      });
  if (!status.ok()) return status;
  return rows;
}

absl::StatusOr<std::vector<pb::Worker>> Client::ListWorkers() {
  pb::ListWorkersResponse response;
  const absl::Status status =
      Call(&Stub::ListWorkers, pb::ListWorkersRequest(), &response, kCallTimeout);
  if (!status.ok()) return status;
  return std::vector<pb::Worker>(response.workers().begin(), response.workers().end());
}

absl::StatusOr<pb::GetServerInfoResponse> Client::GetServerInfo(std::chrono::milliseconds timeout) {
  pb::GetServerInfoResponse response;
  const absl::Status status =
      Call(&Stub::GetServerInfo, pb::GetServerInfoRequest(), &response, timeout);
  if (!status.ok()) return status;
  return response;
}

/// Hands each message to `each` until the stream ends, or OK once `each` wants no more.
template <typename Response>
static grpc::Status ReadAll(grpc::ClientContext& context, grpc::ClientReader<Response>& reader,
                            const std::function<bool(const Response&)>& each) {
  Response response;
  while (reader.Read(&response)) {
    if (!each(response)) {
      context.TryCancel();
      reader.Finish();
      return grpc::Status::OK;
    }
  }
  return reader.Finish();
}

absl::Status Client::WatchExperiment(
    const pb::WatchExperimentRequest& request,
    const std::function<bool(const pb::WatchExperimentResponse&)>& each) {
  grpc::ClientContext context;
  Connection::Introduce(context, address_);
  const auto reader = connection_->stub->WatchExperiment(&context, request);
  return Connection::ToStatus(ReadAll(context, *reader, each), context, address_);
}

absl::Status Client::StreamLogs(const pb::StreamLogsRequest& request,
                                const std::function<bool(const pb::StreamLogsResponse&)>& each) {
  grpc::ClientContext context;
  Connection::Introduce(context, address_);
  const auto reader = connection_->stub->StreamLogs(&context, request);
  return Connection::ToStatus(ReadAll(context, *reader, each), context, address_);
}

}  // namespace rung::cli
