#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/cli/address.h"
#include "rung/v1/tuner.pb.h"

/// The connection to a service: the calls of `rung.v1.Tuner`, pages put together. gRPC stays in
/// client.cc.
namespace rung::cli {

namespace pb = ::rung::v1;

/// Every call waits at most `call_timeout`. Errors of every call: those that the service answers,
/// with its message; UNAVAILABLE that names the address and says what to do when nobody answers.
///
/// Writing calls carry a request id and are repeated up to three times when the answer got lost,
/// which is safe: the service gives the first answer again.
class Client {
 public:
  explicit Client(const Address& address);
  ~Client();

  absl::StatusOr<int64_t> CreateExperiment(const std::string& document,
                                           const std::string& working_dir);
  absl::StatusOr<pb::ValidateResponse> Validate(const pb::ValidateRequest& request);

  absl::StatusOr<pb::Experiment> GetExperiment(int64_t experiment_id);
  /// Newest first. `name` empty: all.
  absl::StatusOr<std::vector<pb::Experiment>> ListExperiments(const std::string& name);
  absl::Status StopExperiment(int64_t experiment_id);

  absl::StatusOr<pb::Trial> GetTrial(int64_t experiment_id, int32_t trial_number);
  /// `limit` 0: all. `request`'s page fields are ignored.
  absl::StatusOr<std::vector<pb::Trial>> ListTrials(pb::ListTrialsRequest request, size_t limit);
  absl::Status StopTrial(int64_t experiment_id, int32_t trial_number);
  /// Calls `each` for every row. `request`'s page fields are ignored.
  absl::Status ForEachMetric(pb::ListMetricsRequest request,
                             const std::function<void(const pb::Metric&)>& each);
  /// By seq. `request`'s page fields are ignored.
  absl::StatusOr<std::vector<pb::DecisionRow>> ListDecisions(pb::ListDecisionsRequest request);

  absl::StatusOr<std::vector<pb::Worker>> ListWorkers();
  absl::StatusOr<pb::GetServerInfoResponse> GetServerInfo(std::chrono::milliseconds timeout);

  /// Calls `each` until it returns false (the answer is then OK) or the stream ends.
  absl::Status WatchExperiment(const pb::WatchExperimentRequest& request,
                               const std::function<bool(const pb::WatchExperimentResponse&)>& each);
  absl::Status StreamLogs(const pb::StreamLogsRequest& request,
                          const std::function<bool(const pb::StreamLogsResponse&)>& each);

  const Address& address() const { return address_; }

 private:
  struct Connection;

  template <typename Request, typename Response, typename Method>
  absl::Status Call(Method method, const Request& request, Response* response,
                    std::chrono::milliseconds timeout);
  template <typename Request, typename Response, typename Method>
  absl::Status Write(Method method, Request request, Response* response);
  /// Calls `page` with each answer until it returns false or the last page was read.
  template <typename Request, typename Response, typename Method, typename Page>
  absl::Status ForEachPage(Method method, Request request, Page page);

  Address address_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace rung::cli
