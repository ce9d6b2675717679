#include "scheduler/tuner_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scheduler/client_codec.h"
#include "scheduler/experiment_check.h"
#include "scheduler/proto_codec.h"
#include "scheduler/summary_codec.h"

namespace rung {

// ---- how a call becomes an event or a read ----

TunerService::Unary* TunerService::Write(Context* context, const Decode& decode, Fill fill) {
  Unary* reactor = context->DefaultReactor();
  const absl::StatusOr<std::string> caller = parts_.callers.NameOf(*context);
  if (!caller.ok()) {
    reactor->Finish(ToGrpc(caller.status()));
    return reactor;
  }
  const ReplyToken token = parts_.replies.Add(
      [reactor, fill = std::move(fill)](const absl::StatusOr<ReplyValue>& value) {
        if (value.ok()) fill(*value);
        reactor->Finish(ToGrpc(value.status()));
      });
  absl::StatusOr<Event> event = decode(token, *caller);
  const absl::Status posted = event.ok() ? parts_.server.Post(*std::move(event)) : event.status();
  if (!posted.ok()) parts_.replies.Answer(token, posted);
  return reactor;
}

TunerService::Unary* TunerService::Read(Context* context, std::function<absl::Status()> read) {
  Unary* reactor = context->DefaultReactor();
  absl::Status posted = parts_.callers.NameOf(*context).status();
  if (posted.ok()) {
    posted =
        parts_.pool.Post([reactor, read = std::move(read)] { reactor->Finish(ToGrpc(read())); });
  }
  if (!posted.ok()) reactor->Finish(ToGrpc(posted));
  return reactor;
}

TunerService::Unary* TunerService::ComesLater(Context* context, std::string_view what) {
  Unary* reactor = context->DefaultReactor();
  absl::Status status = parts_.callers.NameOf(*context).status();
  if (status.ok()) {
    status = absl::UnimplementedError(fmt::format("{} comes with a later version", what));
  }
  reactor->Finish(ToGrpc(status));
  return reactor;
}

// ---- experiments ----

TunerService::Unary* TunerService::CreateExperiment(Context* context,
                                                    const v1::CreateExperimentRequest* request,
                                                    v1::CreateExperimentResponse* response) {
  return Write(
      context,
      [request](ReplyToken token, const std::string& owner) {
        return EventFromProto(token, owner, *request);
      },
      [response](const ReplyValue& value) {
        response->set_experiment_id(std::get<ExperimentCreated>(value).experiment.value);
      });
}

TunerService::Unary* TunerService::Validate(Context* context, const v1::ValidateRequest* request,
                                            v1::ValidateResponse* response) {
  return Read(context, [request, response]() -> absl::Status {
    const absl::StatusOr<ExperimentCheck> check =
        CheckExperiment(request->document(), request->working_dir(), request->samples());
    if (!check.ok()) return check.status();
    response->set_plan_json(check->plan_json);
    for (const std::string& warning : check->warnings) response->add_warnings(warning);
    for (const Configuration& sample : check->samples) {
      response->add_sample_params_json(sample.ToJson());
    }
    if (check->planned_trials) response->set_planned_trials(*check->planned_trials);
    return absl::OkStatus();
  });
}

TunerService::Unary* TunerService::GetExperiment(Context* context,
                                                 const v1::GetExperimentRequest* request,
                                                 v1::Experiment* response) {
  return Read(context, [this, request, response]() -> absl::Status {
    const absl::StatusOr<ExperimentId> id = ExperimentFromProto(request->experiment_id());
    if (!id.ok()) return id.status();
    const auto summary = parts_.reader.GetExperiment(*id, parts_.clock().wall);
    if (summary.ok()) *response = ToProto(*summary);
    return summary.status();
  });
}

TunerService::Unary* TunerService::ListExperiments(Context* context,
                                                   const v1::ListExperimentsRequest* request,
                                                   v1::ListExperimentsResponse* response) {
  return Read(context, [this, request, response]() -> absl::Status {
    const absl::StatusOr<PageRequest> wanted =
        PageFromProto(request->page_size(), request->page_token());
    if (!wanted.ok()) return wanted.status();
    const absl::StatusOr<std::string> name = TextFromProto("name", request->name(), kNameBytesMax);
    if (!name.ok()) return name.status();
    const auto page = parts_.reader.ListExperiments(*name, *wanted, parts_.clock().wall);
    if (!page.ok()) return page.status();
    for (const auto& summary : page->items) *response->add_experiments() = ToProto(summary);
    response->set_next_page_token(page->next_page_token);
    return absl::OkStatus();
  });
}

TunerService::Unary* TunerService::StopExperiment(Context* context,
                                                  const v1::ExperimentRequest* request,
                                                  v1::Empty*) {
  return Write(
      context,
      [request](ReplyToken token, const std::string&) { return StopFromProto(token, *request); },
      [](const ReplyValue&) {});
}

TunerService::Unary* TunerService::PauseExperiment(Context* context, const v1::ExperimentRequest*,
                                                   v1::Empty*) {
  return ComesLater(context, "pausing an experiment");
}

TunerService::Unary* TunerService::ResumeExperiment(Context* context, const v1::ExperimentRequest*,
                                                    v1::Empty*) {
  return ComesLater(context, "resuming an experiment");
}

TunerService::Unary* TunerService::DeleteExperiment(Context* context, const v1::ExperimentRequest*,
                                                    v1::Empty*) {
  return ComesLater(context, "deleting an experiment");
}

// ---- trials ----

TunerService::Unary* TunerService::GetTrial(Context* context, const v1::GetTrialRequest* request,
                                            v1::Trial* response) {
  return Read(context, [this, request, response]() -> absl::Status {
    const absl::StatusOr<TrialId> id =
        TrialFromProto(request->experiment_id(), request->trial_number());
    if (!id.ok()) return id.status();
    const auto detail = parts_.reader.GetTrial(*id, parts_.clock().wall);
    if (detail.ok()) *response = ToProto(*detail);
    return detail.status();
  });
}

TunerService::Unary* TunerService::ListTrials(Context* context,
                                              const v1::ListTrialsRequest* request,
                                              v1::ListTrialsResponse* response) {
  return Read(context, [this, request, response]() -> absl::Status {
    const absl::StatusOr<TrialQuery> query = QueryFromProto(*request);
    if (!query.ok()) return query.status();
    const auto page = parts_.reader.ListTrials(*query);
    if (!page.ok()) return page.status();
    for (const auto& trial : page->items) *response->add_trials() = ToProto(trial);
    response->set_next_page_token(page->next_page_token);
    return absl::OkStatus();
  });
}

TunerService::Unary* TunerService::ListMetrics(Context* context,
                                               const v1::ListMetricsRequest* request,
                                               v1::ListMetricsResponse* response) {
  return Read(context, [this, request, response]() -> absl::Status {
    const absl::StatusOr<MetricQuery> query = QueryFromProto(*request);
    if (!query.ok()) return query.status();
    const auto page = parts_.reader.ListMetrics(*query);
    if (!page.ok()) return page.status();
    for (const StoredMetric& stored : page->items) {
      *response->add_metrics() = ToProto(stored.row, stored.superseded);
    }
    response->set_next_page_token(page->next_page_token);
    return absl::OkStatus();
  });
}

TunerService::Unary* TunerService::ListDecisions(Context* context,
                                                 const v1::ListDecisionsRequest* request,
                                                 v1::ListDecisionsResponse* response) {
  return Read(context, [this, request, response]() -> absl::Status {
    const absl::StatusOr<DecisionQuery> query = QueryFromProto(*request);
    if (!query.ok()) return query.status();
    const auto page = parts_.reader.ListDecisions(*query);
    if (!page.ok()) return page.status();
    for (const DecisionRow& row : page->items) *response->add_decisions() = ToProto(row);
    response->set_next_page_token(page->next_page_token);
    return absl::OkStatus();
  });
}

TunerService::Unary* TunerService::StopTrial(Context* context, const v1::TrialRequest* request,
                                             v1::Empty*) {
  return Write(
      context,
      [request](ReplyToken token, const std::string&) { return StopFromProto(token, *request); },
      [](const ReplyValue&) {});
}

TunerService::Unary* TunerService::PauseTrial(Context* context, const v1::TrialRequest*,
                                              v1::Empty*) {
  return ComesLater(context, "pausing a trial");
}

TunerService::Unary* TunerService::ResumeTrial(Context* context, const v1::TrialRequest*,
                                               v1::Empty*) {
  return ComesLater(context, "resuming a trial");
}

TunerService::Unary* TunerService::RetryTrial(Context* context, const v1::TrialRequest*,
                                              v1::Empty*) {
  return ComesLater(context, "retrying a trial");
}

// ---- streams ----

grpc::ServerWriteReactor<v1::WatchExperimentResponse>* TunerService::WatchExperiment(
    Context* context, const v1::WatchExperimentRequest* request) {
  constexpr int64_t kIntervalMsUsual = 500;
  constexpr int64_t kIntervalMsMin = 100;
  constexpr int64_t kIntervalMsMax = 60'000;
  absl::Status refusal = parts_.callers.NameOf(*context).status();
  const absl::StatusOr<ExperimentId> id = ExperimentFromProto(request->experiment_id());
  if (refusal.ok()) refusal = id.status();
  const absl::StatusOr<int64_t> interval = NumberFromProto(
      "interval_ms", request->interval_ms() == 0 ? kIntervalMsUsual : request->interval_ms(),
      kIntervalMsMin, kIntervalMsMax);
  if (refusal.ok()) refusal = interval.status();
  return parts_.watches.Open(id.value_or(ExperimentId{}),
                             std::chrono::milliseconds(interval.value_or(kIntervalMsUsual)),
                             refusal);
}

grpc::ServerWriteReactor<v1::StreamLogsResponse>* TunerService::StreamLogs(
    Context* context, const v1::StreamLogsRequest* request) {
  const absl::Status caller = parts_.callers.NameOf(*context).status();
  const absl::StatusOr<LogQuery> query = QueryFromProto(*request);
  return parts_.logs.OpenReader(query.value_or(LogQuery{}), caller.ok() ? query.status() : caller);
}

grpc::ServerBidiReactor<v1::ReportRequest, v1::ReportResponse>* TunerService::StreamReports(
    Context* context) {
  return parts_.reports.Open(parts_.callers.NameOf(*context).status());
}

// ---- workers ----

TunerService::Unary* TunerService::ListWorkers(Context* context, const v1::ListWorkersRequest*,
                                               v1::ListWorkersResponse* response) {
  return Read(context, [this, response]() -> absl::Status {
    const auto workers = parts_.reader.ListWorkers();
    if (!workers.ok()) return workers.status();
    for (const WorkerSummary& worker : *workers) *response->add_workers() = ToProto(worker);
    return absl::OkStatus();
  });
}

TunerService::Unary* TunerService::DrainWorker(Context* context, const v1::DrainWorkerRequest*,
                                               v1::Empty*) {
  return ComesLater(context, "draining a worker");
}

// ---- ask/tell ----

TunerService::Unary* TunerService::StartTrial(Context* context,
                                              const v1::StartTrialRequest* request,
                                              v1::StartTrialResponse* response) {
  return Write(
      context,
      [request](ReplyToken token, const std::string& owner) {
        return EventFromProto(token, owner, *request);
      },
      [response](const ReplyValue& value) { *response = StartTrialToProto(value); });
}

TunerService::Unary* TunerService::Report(Context* context, const v1::ReportRequest* request,
                                          v1::ReportResponse* response) {
  return Write(
      context,
      [request](ReplyToken token, const std::string&) { return EventFromProto(token, *request); },
      [response](const ReplyValue& value) { *response = ReportToProto(value); });
}

TunerService::Unary* TunerService::KeepAlive(Context* context, const v1::KeepAliveRequest* request,
                                             v1::Empty*) {
  return Write(
      context,
      [request](ReplyToken token, const std::string&) { return EventFromProto(token, *request); },
      [](const ReplyValue&) {});
}

TunerService::Unary* TunerService::FinishTrial(Context* context,
                                               const v1::FinishTrialRequest* request, v1::Empty*) {
  return Write(
      context,
      [request](ReplyToken token, const std::string&) { return EventFromProto(token, *request); },
      [](const ReplyValue&) {});
}

// ---- the service itself ----

TunerService::Unary* TunerService::GetServerInfo(Context* context, const v1::GetServerInfoRequest*,
                                                 v1::GetServerInfoResponse* response) {
  Unary* reactor = context->DefaultReactor();
  const absl::Status caller = parts_.callers.NameOf(*context).status();
  if (caller.ok()) *response = parts_.info;
  reactor->Finish(ToGrpc(caller));
  return reactor;
}

}  // namespace rung
