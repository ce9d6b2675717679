#include "proto/noun_codec.h"

#include "proto/enum_pairs.h"

namespace rung {
namespace {

constexpr EnumPairs<AttemptState, v1::AttemptState, 6> kAttemptStates{{
    {AttemptState::kAssigned, v1::ATTEMPT_STATE_ASSIGNED},
    {AttemptState::kStarting, v1::ATTEMPT_STATE_STARTING},
    {AttemptState::kRunning, v1::ATTEMPT_STATE_RUNNING},
    {AttemptState::kStopping, v1::ATTEMPT_STATE_STOPPING},
    {AttemptState::kExited, v1::ATTEMPT_STATE_EXITED},
    {AttemptState::kLost, v1::ATTEMPT_STATE_LOST},
}};
constexpr EnumPairs<ExitCause, v1::ExitCause, 6> kExitCauses{{
    {ExitCause::kCompleted, v1::EXIT_CAUSE_COMPLETED},
    {ExitCause::kFailed, v1::EXIT_CAUSE_FAILED},
    {ExitCause::kStopped, v1::EXIT_CAUSE_STOPPED},
    {ExitCause::kCouldNotStart, v1::EXIT_CAUSE_COULD_NOT_START},
    {ExitCause::kRefused, v1::EXIT_CAUSE_REFUSED},
    {ExitCause::kLost, v1::EXIT_CAUSE_LOST},
}};
constexpr EnumPairs<Decision, v1::Decision, 3> kDecisions{{
    {Decision::kContinue, v1::DECISION_CONTINUE},
    {Decision::kStop, v1::DECISION_STOP},
    {Decision::kPause, v1::DECISION_PAUSE},
}};
constexpr EnumPairs<Reduce, v1::Reduce, 4> kReduces{{
    {Reduce::kRank0, v1::REDUCE_RANK0},
    {Reduce::kMean, v1::REDUCE_MEAN},
    {Reduce::kMin, v1::REDUCE_MIN},
    {Reduce::kMax, v1::REDUCE_MAX},
}};

}  // namespace

v1::AttemptState ToProto(AttemptState state) { return WireOf(kAttemptStates, state); }
v1::ExitCause ToProto(ExitCause cause) { return WireOf(kExitCauses, cause); }
v1::Decision ToProto(Decision decision) { return WireOf(kDecisions, decision); }
v1::Reduce ToProto(Reduce reduce) { return WireOf(kReduces, reduce); }

v1::AttemptId ToProto(AttemptId id) {
  v1::AttemptId proto;
  proto.set_experiment_id(id.trial.experiment.value);
  proto.set_trial_number(id.trial.number.value);
  proto.set_attempt(id.attempt);
  return proto;
}

v1::Resources ToProto(const Resources& resources) {
  v1::Resources proto;
  proto.set_milli_cpus(resources.milli_cpus);
  proto.set_memory_bytes(resources.memory_bytes);
  proto.set_gpus(resources.gpus);
  return proto;
}

v1::MetricValue ToProto(const MetricValue& metric) {
  v1::MetricValue proto;
  proto.set_name(metric.name);
  proto.set_value(metric.value);
  proto.set_count(metric.count);
  return proto;
}

absl::StatusOr<AttemptState> FromProto(v1::AttemptState state) {
  return CoreOf(kAttemptStates, state, "state");
}
absl::StatusOr<ExitCause> FromProto(v1::ExitCause cause) {
  return CoreOf(kExitCauses, cause, "cause");
}
absl::StatusOr<Reduce> FromProto(v1::Reduce reduce) { return CoreOf(kReduces, reduce, "reduce"); }
Decision FromProto(v1::Decision decision) {
  return CoreOf(kDecisions, decision, "decision").value_or(Decision::kContinue);
}

}  // namespace rung
