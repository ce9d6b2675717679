#include "scheduler/proto_codec.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/check.h"
#include "core/metric_name.h"
#include "proto/enum_pairs.h"
#include "proto/utf8.h"

namespace rung {
namespace {

constexpr EnumPairs<ExperimentState, v1::ExperimentState, 6> kExperimentStates{{
    {ExperimentState::kActive, v1::EXPERIMENT_STATE_ACTIVE},
    {ExperimentState::kPaused, v1::EXPERIMENT_STATE_PAUSED},
    {ExperimentState::kStopping, v1::EXPERIMENT_STATE_STOPPING},
    {ExperimentState::kCompleted, v1::EXPERIMENT_STATE_COMPLETED},
    {ExperimentState::kStopped, v1::EXPERIMENT_STATE_STOPPED},
    {ExperimentState::kFailed, v1::EXPERIMENT_STATE_FAILED},
}};
constexpr EnumPairs<TrialState, v1::TrialState, 7> kTrialStates{{
    {TrialState::kQueued, v1::TRIAL_STATE_QUEUED},
    {TrialState::kRunning, v1::TRIAL_STATE_RUNNING},
    {TrialState::kPaused, v1::TRIAL_STATE_PAUSED},
    {TrialState::kCompleted, v1::TRIAL_STATE_COMPLETED},
    {TrialState::kStopped, v1::TRIAL_STATE_STOPPED},
    {TrialState::kFailed, v1::TRIAL_STATE_FAILED},
    {TrialState::kCancelled, v1::TRIAL_STATE_CANCELLED},
}};

template <typename Value, typename Field>
void SetIf(const std::optional<Value>& value, Field set) {
  if (value) set(*value);
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  // The codes are gRPC's own. Trailers hold 8 KiB at most, with bytes escaped threefold.
  constexpr size_t kBytesMax = 2'000;
  return {static_cast<grpc::StatusCode>(status.code()),
          std::string(status.message().substr(0, kBytesMax))};
}

v1::ExperimentState ToProto(ExperimentState state) { return WireOf(kExperimentStates, state); }
v1::TrialState ToProto(TrialState state) { return WireOf(kTrialStates, state); }

v1::Goal ToProto(Goal goal) {
  return goal == Goal::kMinimize ? v1::GOAL_MINIMIZE : v1::GOAL_MAXIMIZE;
}

v1::BestBy ToProto(BestBy best_by) {
  switch (best_by) {
    case BestBy::kBest:
      return v1::BEST_BY_BEST;
    case BestBy::kLast:
      return v1::BEST_BY_LAST;
    case BestBy::kMaxT:
      return v1::BEST_BY_MAX_T;
  }
  RUNG_CHECK(false);
}

v1::Experiment ToProto(const ExperimentRow& row) {
  v1::Experiment proto;
  proto.set_id(row.id.value);
  proto.set_name(row.name);
  proto.set_state(ToProto(row.state));
  proto.set_reason(row.reason);
  proto.set_document(row.document);
  proto.set_metric(row.metric);
  proto.set_goal(ToProto(row.goal));
  proto.set_best_by(ToProto(row.best_by));
  proto.set_seed(row.seed);
  proto.set_owner(row.owner);
  proto.set_priority(row.priority);
  SetIf(row.planned_trials, [&](int64_t trials) { proto.set_planned_trials(trials); });
  SetIf(row.max_step, [&](Steps step) { proto.set_max_step(step); });
  proto.set_plan_json(row.plan);
  proto.set_created_us(row.created.us);
  SetIf(row.ended, [&](WallTime time) { proto.set_ended_us(time.us); });
  return proto;
}

v1::Trial ToProto(const TrialRow& row) {
  v1::Trial proto;
  proto.set_experiment_id(row.id.experiment.value);
  proto.set_trial_number(row.id.number.value);
  proto.set_state(ToProto(row.state));
  proto.set_reason(row.reason);
  proto.set_params_json(row.params);
  proto.set_bracket(row.bracket);
  SetIf(row.best_value, [&](double value) { proto.set_best_value(value); });
  SetIf(row.best_step, [&](Steps step) { proto.set_best_step(step); });
  SetIf(row.last_step, [&](Steps step) { proto.set_last_step(step); });
  proto.set_failures(row.failures);
  proto.set_losses(row.losses);
  proto.set_created_us(row.created.us);
  SetIf(row.ended, [&](WallTime time) { proto.set_ended_us(time.us); });
  return proto;
}

v1::Attempt ToProto(const AttemptRow& row) {
  v1::Attempt proto;
  proto.set_experiment_id(row.id.trial.experiment.value);
  proto.set_trial_number(row.id.trial.number.value);
  proto.set_attempt(row.id.attempt);
  proto.set_state(ToProto(row.state));
  SetIf(row.exit_cause, [&](ExitCause cause) { proto.set_exit_cause(ToProto(cause)); });
  SetIf(row.exit_code, [&](int32_t code) { proto.set_exit_code(code); });
  proto.set_message(ValidUtf8(row.message));
  proto.set_workers(row.workers);
  proto.set_owner(row.owner);
  proto.set_resume_step(row.resume_step);
  proto.set_processes(row.processes);
  proto.set_gpus(row.gpus);
  proto.set_milli_cpus(row.milli_cpus);
  proto.set_memory_bytes(row.memory_bytes);
  proto.set_started_us(row.started.us);
  SetIf(row.ended, [&](WallTime time) { proto.set_ended_us(time.us); });
  proto.set_gpu_seconds(row.gpu_s);
  proto.set_cpu_seconds(row.cpu_s);
  return proto;
}

v1::Metric ToProto(const MetricRow& row, bool superseded) {
  v1::Metric proto;
  proto.set_trial_number(row.attempt.trial.number.value);
  proto.set_attempt(row.attempt.attempt);
  proto.set_step(row.step);
  proto.set_name(row.name);
  proto.set_value(row.value);
  proto.set_ranks(row.ranks);
  proto.set_time_us(row.time.us);
  proto.set_superseded(superseded);
  return proto;
}

v1::DecisionRow ToProto(const DecisionRow& row) {
  v1::DecisionRow proto;
  proto.set_seq(row.seq);
  proto.set_bracket(row.bracket);
  proto.set_level(row.level);
  proto.set_trial_number(row.trial.value);
  proto.set_attempt(row.attempt);
  proto.set_step(row.step);
  proto.set_value(row.value);
  proto.set_n_before(row.n_before);
  proto.set_entries(row.entries);
  SetIf(row.rank, [&](int64_t rank) { proto.set_rank(rank); });
  SetIf(row.cutoff, [&](double cutoff) { proto.set_cutoff(cutoff); });
  proto.set_rule(row.rule);
  proto.set_decision(row.decision);
  proto.set_reason(row.reason);
  proto.set_time_us(row.time.us);
  return proto;
}

v1::LogTail ToProto(const LogTailRow& row) {
  v1::LogTail proto;
  proto.set_rank(row.rank);
  proto.set_text(ValidUtf8(row.text));
  return proto;
}

v1::Worker ToProto(const WorkerRow& row) {
  v1::Worker proto;
  proto.set_name(row.name);
  proto.set_state(row.state);
  proto.set_host(row.host);
  proto.set_version(row.version);
  *proto.mutable_total() = ToProto(
      Resources{.milli_cpus = row.milli_cpus, .memory_bytes = row.memory_bytes, .gpus = row.gpus});
  // Our own text; a row edited by hand gives no names rather than no answer.
  const nlohmann::json names = nlohmann::json::parse(row.gpu_names, nullptr, false);
  if (names.is_array()) {
    for (const nlohmann::json& name : names) {
      if (name.is_string()) proto.add_gpu_names(name.get_ref<const std::string&>());
    }
  }
  proto.set_first_seen_us(row.first_seen.us);
  proto.set_last_seen_us(row.last_seen.us);
  return proto;
}

absl::StatusOr<TrialState> FromProto(v1::TrialState state) {
  return CoreOf(kTrialStates, state, "states");
}

absl::StatusOr<ExperimentId> ExperimentFromProto(int64_t id) {
  const auto value = NumberFromProto("experiment_id", id, 1, std::numeric_limits<int64_t>::max());
  if (!value.ok()) return value.status();
  return ExperimentId{*value};
}

absl::StatusOr<TrialId> TrialFromProto(int64_t experiment, int32_t number) {
  const absl::StatusOr<ExperimentId> id = ExperimentFromProto(experiment);
  if (!id.ok()) return id.status();
  const auto value =
      NumberFromProto("trial_number", number, 0, std::numeric_limits<int32_t>::max());
  if (!value.ok()) return value.status();
  return TrialId{.experiment = *id, .number = {number}};
}

absl::StatusOr<AttemptId> FromProto(const v1::AttemptId& id) {
  const absl::StatusOr<TrialId> trial = TrialFromProto(id.experiment_id(), id.trial_number());
  if (!trial.ok()) return trial.status();
  const auto value =
      NumberFromProto("attempt", id.attempt(), 0, std::numeric_limits<int32_t>::max());
  if (!value.ok()) return value.status();
  return AttemptId{.trial = *trial, .attempt = id.attempt()};
}

absl::StatusOr<Resources> FromProto(const v1::Resources& resources) {
  constexpr int64_t kMilliCpusMax = 100'000'000;
  constexpr int64_t kGpusMax = 1'000;
  const auto cpus = NumberFromProto("milli_cpus", resources.milli_cpus(), 0, kMilliCpusMax);
  if (!cpus.ok()) return cpus.status();
  const auto memory = NumberFromProto("memory_bytes", resources.memory_bytes(), 0,
                                      std::numeric_limits<int64_t>::max());
  if (!memory.ok()) return memory.status();
  const auto gpus = NumberFromProto("gpus", resources.gpus(), 0, kGpusMax);
  if (!gpus.ok()) return gpus.status();
  return Resources{
      .milli_cpus = *cpus, .memory_bytes = *memory, .gpus = static_cast<int32_t>(*gpus)};
}

std::vector<MetricValue> FromProto(
    const google::protobuf::RepeatedPtrField<v1::MetricValue>& metrics) {
  std::vector<MetricValue> values;
  values.reserve(static_cast<size_t>(metrics.size()));
  for (const v1::MetricValue& metric : metrics) {
    const int64_t count = metric.count() == 0 ? 1 : metric.count();
    values.push_back({.name = metric.name(), .value = metric.value(), .count = count});
  }
  return values;
}

absl::StatusOr<std::string> TextFromProto(std::string_view field, const std::string& text,
                                          size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  return absl::InvalidArgumentError(
      fmt::format("{}: must be at most {} bytes, found {}", field, bytes_max, text.size()));
}

absl::StatusOr<int64_t> NumberFromProto(std::string_view field, int64_t value, int64_t low,
                                        int64_t high) {
  if (value >= low && value <= high) return value;
  return absl::InvalidArgumentError(
      high == std::numeric_limits<int64_t>::max()
          ? fmt::format("{}: must be at least {}, found {}", field, low, value)
          : fmt::format("{}: must be from {} to {}, found {}", field, low, high, value));
}

}  // namespace rung
