#include "scheduler/client_codec.h"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <utility>

#include "core/check.h"
#include "scheduler/proto_codec.h"
#include "scheduler/spec_json.h"

namespace rung {
namespace {

constexpr size_t kTokenBytesMax = 1'024;
constexpr int64_t kLeaseMsUsual = 600'000;
constexpr int64_t kLeaseMsMin = 1'000;
constexpr int64_t kLeaseMsMax = 7 * 86'400'000;

absl::StatusOr<std::string> RequestId(const std::string& request_id) {
  return TextFromProto("request_id", request_id, kRequestIdBytesMax);
}

absl::StatusOr<std::optional<TrialNumber>> TrialOf(bool given, int32_t number) {
  if (!given) return std::nullopt;
  const auto value =
      NumberFromProto("trial_number", number, 0, std::numeric_limits<int32_t>::max());
  if (!value.ok()) return value.status();
  return TrialNumber{number};
}

/// What lists of an experiment's rows have in common: the experiment, perhaps one trial, the page.
template <typename Query, typename Request>
absl::StatusOr<Query> RowQuery(const Request& request) {
  Query query;
  const absl::StatusOr<ExperimentId> experiment = ExperimentFromProto(request.experiment_id());
  if (!experiment.ok()) return experiment.status();
  query.experiment = *experiment;
  const auto trial = TrialOf(request.has_trial_number(), request.trial_number());
  if (!trial.ok()) return trial.status();
  query.trial = *trial;
  absl::StatusOr<PageRequest> page = PageFromProto(request.page_size(), request.page_token());
  if (!page.ok()) return page.status();
  query.page = *std::move(page);
  return query;
}

}  // namespace

absl::StatusOr<Event> EventFromProto(ReplyToken reply, const std::string& owner,
                                     const v1::CreateExperimentRequest& request) {
  absl::StatusOr<std::string> id = RequestId(request.request_id());
  if (!id.ok()) return id.status();
  absl::StatusOr<ExperimentDocument> document =
      ReadExperimentDocument(request.document(), request.working_dir());
  if (!document.ok()) return document.status();
  // For what they say of each other; the loop makes its own of them.
  const ExperimentSpec& spec = document->spec;
  const auto searcher = MakeSearcher(spec.searcher, spec.space, spec.seed);
  if (!searcher.ok()) return searcher.status();
  const auto rule = MakeStoppingRule(spec.scheduler, spec.goal, spec.seed);
  if (!rule.ok()) return rule.status();
  return CreateExperiment{.reply = reply,
                          .request_id = *std::move(id),
                          .owner = owner,
                          .document = std::move(document->text),
                          .spec = std::move(document->spec)};
}

absl::StatusOr<Event> StopFromProto(ReplyToken reply, const v1::ExperimentRequest& request) {
  absl::StatusOr<std::string> id = RequestId(request.request_id());
  if (!id.ok()) return id.status();
  const absl::StatusOr<ExperimentId> experiment = ExperimentFromProto(request.experiment_id());
  if (!experiment.ok()) return experiment.status();
  return StopExperiment{.reply = reply, .request_id = *std::move(id), .experiment = *experiment};
}

absl::StatusOr<Event> StopFromProto(ReplyToken reply, const v1::TrialRequest& request) {
  absl::StatusOr<std::string> id = RequestId(request.request_id());
  if (!id.ok()) return id.status();
  const absl::StatusOr<TrialId> trial =
      TrialFromProto(request.experiment_id(), request.trial_number());
  if (!trial.ok()) return trial.status();
  return StopTrial{.reply = reply, .request_id = *std::move(id), .trial = *trial};
}

absl::StatusOr<Event> EventFromProto(ReplyToken reply, const std::string& owner,
                                     const v1::StartTrialRequest& request) {
  absl::StatusOr<std::string> id = RequestId(request.request_id());
  if (!id.ok()) return id.status();
  const absl::StatusOr<ExperimentId> experiment = ExperimentFromProto(request.experiment_id());
  if (!experiment.ok()) return experiment.status();
  const int64_t lease_ms = request.lease_ms() == 0 ? kLeaseMsUsual : request.lease_ms();
  const auto lease = NumberFromProto("lease_ms", lease_ms, kLeaseMsMin, kLeaseMsMax);
  if (!lease.ok()) return lease.status();
  return StartTrial{.reply = reply,
                    .request_id = *std::move(id),
                    .experiment = *experiment,
                    .owner = owner,
                    .lease = std::chrono::milliseconds(*lease)};
}

absl::StatusOr<Event> EventFromProto(ReplyToken reply, const v1::ReportRequest& request) {
  const absl::StatusOr<AttemptId> attempt = FromProto(request.attempt());
  if (!attempt.ok()) return attempt.status();
  const auto step = NumberFromProto("step", request.step(), 0, std::numeric_limits<int64_t>::max());
  if (!step.ok()) return step.status();
  return ClientReport{
      .reply = reply, .attempt = *attempt, .step = *step, .metrics = FromProto(request.metrics())};
}

absl::StatusOr<Event> EventFromProto(ReplyToken reply, const v1::KeepAliveRequest& request) {
  const absl::StatusOr<AttemptId> attempt = FromProto(request.attempt());
  if (!attempt.ok()) return attempt.status();
  return KeepAlive{.reply = reply, .attempt = *attempt};
}

absl::StatusOr<Event> EventFromProto(ReplyToken reply, const v1::FinishTrialRequest& request) {
  absl::StatusOr<std::string> id = RequestId(request.request_id());
  if (!id.ok()) return id.status();
  const absl::StatusOr<AttemptId> attempt = FromProto(request.attempt());
  if (!attempt.ok()) return attempt.status();
  absl::StatusOr<std::string> message =
      TextFromProto("message", request.message(), kMessageBytesMax);
  if (!message.ok()) return message.status();
  return FinishTrial{.reply = reply,
                     .request_id = *std::move(id),
                     .attempt = *attempt,
                     .failed = request.failed(),
                     .message = *std::move(message)};
}

absl::StatusOr<PageRequest> PageFromProto(int32_t size, const std::string& token) {
  absl::StatusOr<std::string> text = TextFromProto("page_token", token, kTokenBytesMax);
  if (!text.ok()) return text.status();
  return PageRequest{.size = size, .token = *std::move(text)};
}

absl::StatusOr<TrialQuery> QueryFromProto(const v1::ListTrialsRequest& request) {
  TrialQuery query;
  const absl::StatusOr<ExperimentId> experiment = ExperimentFromProto(request.experiment_id());
  if (!experiment.ok()) return experiment.status();
  query.experiment = *experiment;
  if (request.order() == v1::TRIAL_ORDER_BEST) query.order = TrialOrder::kBest;
  for (const int state : request.states()) {
    const absl::StatusOr<TrialState> wanted = FromProto(static_cast<v1::TrialState>(state));
    if (!wanted.ok()) return wanted.status();
    query.states.push_back(*wanted);
  }
  absl::StatusOr<PageRequest> page = PageFromProto(request.page_size(), request.page_token());
  if (!page.ok()) return page.status();
  query.page = *std::move(page);
  return query;
}

absl::StatusOr<MetricQuery> QueryFromProto(const v1::ListMetricsRequest& request) {
  absl::StatusOr<MetricQuery> query = RowQuery<MetricQuery>(request);
  if (!query.ok()) return query.status();
  absl::StatusOr<std::string> name = TextFromProto("name", request.name(), kNameBytesMax);
  if (!name.ok()) return name.status();
  query->name = *std::move(name);
  query->include_superseded = request.include_superseded();
  return query;
}

absl::StatusOr<DecisionQuery> QueryFromProto(const v1::ListDecisionsRequest& request) {
  return RowQuery<DecisionQuery>(request);
}

absl::StatusOr<LogQuery> QueryFromProto(const v1::StreamLogsRequest& request) {
  LogQuery query;
  const absl::StatusOr<TrialId> trial =
      TrialFromProto(request.experiment_id(), request.trial_number());
  if (!trial.ok()) return trial.status();
  query.trial = *trial;
  if (request.has_attempt()) {
    const auto attempt =
        NumberFromProto("attempt", request.attempt(), 0, std::numeric_limits<int32_t>::max());
    if (!attempt.ok()) return attempt.status();
    query.attempt = request.attempt();
  }
  const auto rank = NumberFromProto("rank", request.rank(), 0, std::numeric_limits<int32_t>::max());
  if (!rank.ok()) return rank.status();
  query.rank = request.rank();
  query.follow = request.follow();
  return query;
}

v1::StartTrialResponse StartTrialToProto(const ReplyValue& value) {
  v1::StartTrialResponse response;
  if (const auto* started = std::get_if<TrialStarted>(&value)) {
    response.set_outcome(v1::StartTrialResponse::OUTCOME_TRIAL);
    *response.mutable_attempt() = ToProto(started->attempt);
    response.set_params_json(started->params);
    response.set_resume_step(started->resume_step);
    if (started->max_step) response.set_max_step(*started->max_step);
  } else if (std::holds_alternative<NoTrialNow>(value)) {
    response.set_outcome(v1::StartTrialResponse::OUTCOME_NONE_NOW);
  } else {
    RUNG_CHECK(std::holds_alternative<ExperimentFinished>(value));
    response.set_outcome(v1::StartTrialResponse::OUTCOME_FINISHED);
  }
  return response;
}

v1::ReportResponse ReportToProto(const ReplyValue& value) {
  const auto* answered = std::get_if<ReportAnswered>(&value);
  RUNG_CHECK(answered != nullptr);
  v1::ReportResponse response;
  response.set_decision(ToProto(answered->decision));
  response.set_reason(answered->reason);
  return response;
}

}  // namespace rung
