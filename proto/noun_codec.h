#pragma once

#include <absl/status/statusor.h>

#include "core/ids.h"
#include "core/metric.h"
#include "core/resources.h"
#include "core/trial.h"
#include "rung/v1/types.pb.h"

/// Wire ↔ core: the nouns of which the scheduler and the worker speak with each other.
namespace rung {

v1::AttemptState ToProto(AttemptState state);
v1::ExitCause ToProto(ExitCause cause);
v1::Decision ToProto(Decision decision);
v1::Reduce ToProto(Reduce reduce);
v1::AttemptId ToProto(AttemptId id);
v1::Resources ToProto(const Resources& resources);
v1::MetricValue ToProto(const MetricValue& metric);

// Errors: INVALID_ARGUMENT for UNSPECIFIED and for what only a later version knows.
absl::StatusOr<AttemptState> FromProto(v1::AttemptState state);
absl::StatusOr<ExitCause> FromProto(v1::ExitCause cause);
absl::StatusOr<Reduce> FromProto(v1::Reduce reduce);

/// A word of a later version means continue (INTERFACES.md §3).
Decision FromProto(v1::Decision decision);

}  // namespace rung
