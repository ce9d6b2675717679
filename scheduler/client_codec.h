#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "rung/v1/tuner.pb.h"
#include "scheduler/event.h"
#include "scheduler/log_relay.h"
#include "scheduler/output.h"
#include "storage/database_reader.h"

/// Wire ↔ core: the calls of clients (service Tuner).
///
/// Requests are checked here, documents included. Errors: INVALID_ARGUMENT with the field's name,
/// what was found and what is allowed; those of the experiment document.
namespace rung {

absl::StatusOr<Event> EventFromProto(ReplyToken reply, const std::string& owner,
                                     const v1::CreateExperimentRequest& request);
absl::StatusOr<Event> StopFromProto(ReplyToken reply, const v1::ExperimentRequest& request);
absl::StatusOr<Event> StopFromProto(ReplyToken reply, const v1::TrialRequest& request);
absl::StatusOr<Event> EventFromProto(ReplyToken reply, const std::string& owner,
                                     const v1::StartTrialRequest& request);
absl::StatusOr<Event> EventFromProto(ReplyToken reply, const v1::ReportRequest& request);
absl::StatusOr<Event> EventFromProto(ReplyToken reply, const v1::KeepAliveRequest& request);
absl::StatusOr<Event> EventFromProto(ReplyToken reply, const v1::FinishTrialRequest& request);

absl::StatusOr<PageRequest> PageFromProto(int32_t size, const std::string& token);
absl::StatusOr<TrialQuery> QueryFromProto(const v1::ListTrialsRequest& request);
absl::StatusOr<MetricQuery> QueryFromProto(const v1::ListMetricsRequest& request);
absl::StatusOr<DecisionQuery> QueryFromProto(const v1::ListDecisionsRequest& request);
absl::StatusOr<LogQuery> QueryFromProto(const v1::StreamLogsRequest& request);

v1::StartTrialResponse StartTrialToProto(const ReplyValue& value);
v1::ReportResponse ReportToProto(const ReplyValue& value);

}  // namespace rung
