#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "clients/cli/program.h"
#include "rung/v1/tuner.grpc.pb.h"

/// A Tuner service with data in memory, on a Unix socket in a folder of its own, and the command
/// run against it.
namespace rung::cli {

namespace pb = ::rung::v1;

/// Behaves as the real one where the client can tell: pages, orders, NOT_FOUND, request ids.
class FakeTuner final : public pb::Tuner::Service {
 public:
  using Context = grpc::ServerContext;

  std::vector<pb::Experiment> experiments;  ///< newest first
  std::vector<pb::Trial> trials;            ///< of all experiments, by number
  std::vector<pb::Metric> metrics;          ///< of every experiment
  std::vector<pb::DecisionRow> decisions;
  std::vector<pb::Worker> workers;
  std::vector<pb::WatchExperimentResponse> updates;  ///< what a watch sends before it ends
  pb::ValidateResponse validation;
  std::string log;
  size_t page_size_max = 2;  ///< small, so that paging is used
  int watches_cut = 0;  ///< watches that end after the first update as if the service went away
  int unavailable_calls = 0;             ///< writing calls that fail first
  std::vector<std::string> request_ids;  ///< of writing calls, in order
  std::vector<std::string> stopped;      ///< "12" or "12.3"
  pb::CreateExperimentRequest created;
  pb::StreamLogsRequest logs_asked;
  int logs_refused = 0;                 ///< so many reads of a log come too early
  std::vector<pb::Trial> trials_after;  ///< what `trials` is after the last of them
  std::string authorization;
  std::string version;         ///< told to callers, as services do; empty: not
  std::string client_version;  ///< of the last ListExperiments

  grpc::Status CreateExperiment(Context* context, const pb::CreateExperimentRequest* request,
                                pb::CreateExperimentResponse* response) override {
    for (const auto& [key, value] : context->client_metadata()) {
      if (key == "authorization") authorization = std::string(value.data(), value.size());
    }
    if (const auto refused = Write(request->request_id()); !refused.ok()) return refused;
    if (request->document().find("low") != std::string::npos) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "space.lr.uniform[0]: must be below 0, found 1"};
    }
    created = *request;
    response->set_experiment_id(12);
    return grpc::Status::OK;
  }
  grpc::Status Validate(Context*, const pb::ValidateRequest* request,
                        pb::ValidateResponse* response) override {
    *response = validation;
    while (response->sample_params_json_size() > request->samples()) {
      response->mutable_sample_params_json()->RemoveLast();
    }
    return grpc::Status::OK;
  }
  grpc::Status GetExperiment(Context*, const pb::GetExperimentRequest* request,
                             pb::Experiment* response) override {
    for (const pb::Experiment& experiment : experiments) {
      if (experiment.id() == request->experiment_id()) {
        *response = experiment;
        return grpc::Status::OK;
      }
    }
    return {grpc::StatusCode::NOT_FOUND,
            "no experiment " + std::to_string(request->experiment_id())};
  }
  grpc::Status ListExperiments(Context* context, const pb::ListExperimentsRequest* request,
                               pb::ListExperimentsResponse* response) override {
    if (!version.empty()) context->AddInitialMetadata("rung-version", version);
    const auto theirs = context->client_metadata().find("rung-version");
    if (theirs != context->client_metadata().end()) {
      client_version = std::string(theirs->second.data(), theirs->second.size());
    }
    std::vector<pb::Experiment> named;
    for (const pb::Experiment& experiment : experiments) {
      if (request->name().empty() || experiment.name() == request->name()) {
        named.push_back(experiment);
      }
    }
    return Page(*request, named, response->mutable_experiments(),
                response->mutable_next_page_token());
  }
  grpc::Status StopExperiment(Context*, const pb::ExperimentRequest* request, pb::Empty*) override {
    if (const auto refused = Write(request->request_id()); !refused.ok()) return refused;
    stopped.push_back(std::to_string(request->experiment_id()));
    return grpc::Status::OK;
  }
  grpc::Status GetTrial(Context*, const pb::GetTrialRequest* request,
                        pb::Trial* response) override {
    for (const pb::Trial& trial : trials) {
      if (trial.experiment_id() == request->experiment_id() &&
          trial.trial_number() == request->trial_number()) {
        *response = trial;
        return grpc::Status::OK;
      }
    }
    return {grpc::StatusCode::NOT_FOUND, "no such trial"};
  }
  grpc::Status ListTrials(Context*, const pb::ListTrialsRequest* request,
                          pb::ListTrialsResponse* response) override {
    std::vector<pb::Trial> chosen;
    for (const pb::Trial& trial : trials) {
      bool wanted = trial.experiment_id() == request->experiment_id();
      if (request->states_size() > 0) {
        wanted = wanted && std::find(request->states().begin(), request->states().end(),
                                     trial.state()) != request->states().end();
      }
      if (wanted) chosen.push_back(trial);
    }
    if (request->order() == pb::TRIAL_ORDER_BEST) {  // maximise
      std::stable_sort(chosen.begin(), chosen.end(), [](const pb::Trial& a, const pb::Trial& b) {
        if (a.has_best_value() != b.has_best_value()) return a.has_best_value();
        return a.best_value() > b.best_value();
      });
    }
    return Page(*request, chosen, response->mutable_trials(), response->mutable_next_page_token());
  }
  grpc::Status ListMetrics(Context*, const pb::ListMetricsRequest* request,
                           pb::ListMetricsResponse* response) override {
    std::vector<pb::Metric> chosen;
    for (const pb::Metric& metric : metrics) {
      const bool wanted =
          (!request->has_trial_number() || metric.trial_number() == request->trial_number()) &&
          (request->name().empty() || metric.name() == request->name()) &&
          (request->include_superseded() || !metric.superseded());
      if (wanted) chosen.push_back(metric);
    }
    return Page(*request, chosen, response->mutable_metrics(), response->mutable_next_page_token());
  }
  grpc::Status ListDecisions(Context*, const pb::ListDecisionsRequest* request,
                             pb::ListDecisionsResponse* response) override {
    std::vector<pb::DecisionRow> chosen;
    for (const pb::DecisionRow& row : decisions) {
      if (!request->has_trial_number() || row.trial_number() == request->trial_number()) {
        chosen.push_back(row);
      }
    }
    return Page(*request, chosen, response->mutable_decisions(),
                response->mutable_next_page_token());
  }
  grpc::Status StopTrial(Context*, const pb::TrialRequest* request, pb::Empty*) override {
    if (const auto refused = Write(request->request_id()); !refused.ok()) return refused;
    stopped.push_back(std::to_string(request->experiment_id()) + "." +
                      std::to_string(request->trial_number()));
    return grpc::Status::OK;
  }
  grpc::Status WatchExperiment(Context*, const pb::WatchExperimentRequest* request,
                               grpc::ServerWriter<pb::WatchExperimentResponse>* writer) override {
    bool known = false;
    if (watches_cut-- > 0 && !updates.empty()) {
      writer->Write(updates.front());
      return {grpc::StatusCode::UNAVAILABLE, "restarting"};
    }
    for (const pb::WatchExperimentResponse& update : updates) {
      if (update.experiment().id() != request->experiment_id()) continue;
      known = true;
      writer->Write(update);
    }
    if (!known) return {grpc::StatusCode::NOT_FOUND, "no such experiment"};
    return grpc::Status::OK;
  }
  grpc::Status StreamLogs(Context*, const pb::StreamLogsRequest* request,
                          grpc::ServerWriter<pb::StreamLogsResponse>* writer) override {
    logs_asked = *request;
    if (logs_refused-- > 0) {
      if (logs_refused == 0) trials = trials_after;
      return {grpc::StatusCode::FAILED_PRECONDITION, "trial 12.2 has not been started yet"};
    }
    pb::StreamLogsResponse piece;
    piece.set_worker("w1");
    for (size_t i = 0; i < log.size(); i += 5) {
      piece.set_data(log.substr(i, 5));
      writer->Write(piece);
    }
    return grpc::Status::OK;
  }
  grpc::Status ListWorkers(Context*, const pb::ListWorkersRequest*,
                           pb::ListWorkersResponse* response) override {
    for (const pb::Worker& worker : workers) *response->add_workers() = worker;
    return grpc::Status::OK;
  }

 private:
  grpc::Status Write(const std::string& request_id) {
    request_ids.push_back(request_id);
    if (unavailable_calls-- > 0) return {grpc::StatusCode::UNAVAILABLE, "restarting"};
    return grpc::Status::OK;
  }

  template <typename Request, typename Row, typename Rows>
  grpc::Status Page(const Request& request, const std::vector<Row>& all, Rows* rows,
                    std::string* next) const {
    const size_t start = request.page_token().empty() ? 0 : std::stoul(request.page_token());
    size_t size = page_size_max;
    if (request.page_size() > 0) size = std::min(size, static_cast<size_t>(request.page_size()));
    for (size_t i = start; i < all.size() && i < start + size; ++i) *rows->Add() = all[i];
    if (start + size < all.size()) *next = std::to_string(start + size);
    return grpc::Status::OK;
  }
};

/// What one call of the command left.
struct CommandResult {
  int status = -1;
  std::string out;
  std::string err;
};

/// A folder that goes away with it, RUNG_HOME while it lives.
class TemporaryHome {
 public:
  TemporaryHome() {
    std::string name = std::filesystem::temp_directory_path() / "rung-cli-test-XXXXXX";
    folder_ = mkdtemp(name.data());
    setenv("RUNG_HOME", folder_.c_str(), 1);
    setenv("TZ", "UTC", 1);
    unsetenv("RUNG_SERVER");
    unsetenv("RUNG_SOCKET");
  }
  ~TemporaryHome() { std::filesystem::remove_all(folder_); }
  TemporaryHome(const TemporaryHome&) = delete;
  TemporaryHome& operator=(const TemporaryHome&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// Runs `rung ARGUMENTS...`, no terminal.
inline CommandResult RunCommand(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "rung");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  Console console{.out = out, .err = err, .out_terminal = {}, .err_terminal = {}};
  CommandResult result;
  result.status = RunProgram(static_cast<int>(argv.size()), argv.data(), console);
  result.out = out.str();
  result.err = err.str();
  return result;
}

/// Serves `tuner` at `address` while it lives.
class FakeServer {
 public:
  FakeServer(FakeTuner& tuner, const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&tuner);
    server_ = builder.BuildAndStart();
  }
  ~FakeServer() { server_->Shutdown(std::chrono::system_clock::now()); }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  int port() const { return port_; }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace rung::cli
