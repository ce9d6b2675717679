#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/repeated_ptr_field.h>
#include <grpcpp/support/status.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/experiment.h"
#include "proto/noun_codec.h"
#include "storage/rows.h"

/// Wire ↔ core and rows: the nouns that both services share, beside those of noun_codec.h. Nothing
/// behind the services knows protobuf.
///
/// From the wire everything is checked; errors are INVALID_ARGUMENT with the field's name, what was
/// found and what is allowed.
namespace rung {

inline constexpr size_t kRequestIdBytesMax = 128;
inline constexpr size_t kNameBytesMax = 256;
inline constexpr size_t kMessageBytesMax = 4'096;

grpc::Status ToGrpc(const absl::Status& status);

v1::ExperimentState ToProto(ExperimentState state);
v1::TrialState ToProto(TrialState state);
v1::Goal ToProto(Goal goal);
v1::BestBy ToProto(BestBy best_by);

v1::Experiment ToProto(const ExperimentRow& row);
v1::Trial ToProto(const TrialRow& row);
v1::Attempt ToProto(const AttemptRow& row);
v1::Metric ToProto(const MetricRow& row, bool superseded);
v1::DecisionRow ToProto(const DecisionRow& row);
v1::LogTail ToProto(const LogTailRow& row);
v1::Worker ToProto(const WorkerRow& row);

absl::StatusOr<TrialState> FromProto(v1::TrialState state);
absl::StatusOr<ExperimentId> ExperimentFromProto(int64_t id);
absl::StatusOr<TrialId> TrialFromProto(int64_t experiment, int32_t number);
absl::StatusOr<AttemptId> FromProto(const v1::AttemptId& id);
absl::StatusOr<Resources> FromProto(const v1::Resources& resources);
/// The loop checks them (a count of 0 is 1).
std::vector<MetricValue> FromProto(
    const google::protobuf::RepeatedPtrField<v1::MetricValue>& metrics);

/// `text` if it is at most `bytes_max` long.
absl::StatusOr<std::string> TextFromProto(std::string_view field, const std::string& text,
                                          size_t bytes_max);
/// `value` if it is in [low, high].
absl::StatusOr<int64_t> NumberFromProto(std::string_view field, int64_t value, int64_t low,
                                        int64_t high);

}  // namespace rung
