#include "trial_runner/worker/proto_codec.h"

#include <fmt/format.h>

#include <utility>

#include "proto/noun_codec.h"
#include "proto/utf8.h"

namespace rung::worker {
namespace {

constexpr int32_t kProcessesMax = 1'024;

using std::chrono::milliseconds;

absl::StatusOr<AttemptSpec> SpecFromProto(const v1::StartAttempt& start) {
  const v1::TrialTemplate& trial = start.trial();
  const absl::StatusOr<Reduce> reduce = rung::FromProto(trial.reduce());
  if (!reduce.ok()) return reduce.status();
  if (trial.processes() < 1 || trial.processes() > kProcessesMax) {
    return absl::InvalidArgumentError(fmt::format("trial.processes: must be 1 to {}, found {}",
                                                  kProcessesMax, trial.processes()));
  }
  if (trial.command().empty()) return absl::InvalidArgumentError("trial.command: is empty");
  AttemptSpec spec{.attempt = FromProto(start.attempt()),
                   .experiment_name = start.experiment_name(),
                   .params_json = start.params_json(),
                   .command = {trial.command().begin(), trial.command().end()},
                   .working_dir = trial.working_dir(),
                   .processes = trial.processes(),
                   .per_process = {.milli_cpus = trial.per_process().milli_cpus(),
                                   .memory_bytes = trial.per_process().memory_bytes(),
                                   .gpus = trial.per_process().gpus()},
                   .reduce = *reduce,
                   .checkpoint_root = trial.checkpoint_root(),
                   .grace = milliseconds(trial.grace_ms()),
                   .failure_grace = milliseconds(trial.failure_grace_ms()),
                   .seed = start.seed(),
                   .resume_step = start.resume_step(),
                   .resume_from = start.resume_from()};
  for (const v1::EnvironmentVariable& variable : trial.env()) {
    spec.env.emplace_back(variable.name(), variable.value());
  }
  if (start.has_max_step()) spec.max_step = start.max_step();
  return spec;
}

Event AnswerFromProto(const v1::AnswerReport& answer) {
  return ReportAnswered{.attempt = FromProto(answer.attempt()),
                        .step = answer.step(),
                        .report_ids = {answer.report_ids().begin(), answer.report_ids().end()},
                        .decision = rung::FromProto(answer.decision()),
                        .error = answer.error(),
                        .grace = milliseconds(answer.grace_ms())};
}

}  // namespace

absl::StatusOr<std::optional<Event>> EventFromProto(const v1::SchedulerMessage& message) {
  switch (message.message_case()) {
    case v1::SchedulerMessage::kWelcome: {
      Welcomed event;
      for (const v1::AttemptId& id : message.welcome().keep()) event.keep.push_back(FromProto(id));
      return event;
    }
    case v1::SchedulerMessage::kStartAttempt: {
      absl::StatusOr<AttemptSpec> spec = SpecFromProto(message.start_attempt());
      if (!spec.ok()) return spec.status();
      return StartAttempt{*std::move(spec)};
    }
    case v1::SchedulerMessage::kStopAttempt: {
      const v1::StopAttempt& stop = message.stop_attempt();
      const bool pause = stop.decision() == v1::DECISION_PAUSE;  // of earlier schedulers: stop
      return StopAttempt{.attempt = FromProto(stop.attempt()),
                         .grace = milliseconds(stop.grace_ms()),
                         .at_once = stop.at_once(),
                         .decision = pause ? Decision::kPause : Decision::kStop};
    }
    case v1::SchedulerMessage::kAnswerReport:
      return AnswerFromProto(message.answer_report());
    case v1::SchedulerMessage::kAcknowledgeCheckpoint: {
      const v1::AcknowledgeCheckpoint& ack = message.acknowledge_checkpoint();
      return CheckpointAcknowledged{
          .report_id = ack.report_id(), .attempt = FromProto(ack.attempt()), .error = ack.error()};
    }
    case v1::SchedulerMessage::kAcknowledgeExit:
      return ExitAcknowledged{FromProto(message.acknowledge_exit().attempt())};
    case v1::SchedulerMessage::kFetchLog:
    case v1::SchedulerMessage::MESSAGE_NOT_SET:
      break;
  }
  return std::optional<Event>();
}

SessionTimes TimesFromProto(const v1::Welcome& welcome) {
  SessionTimes times;
  if (welcome.heartbeat_ms() > 0) times.heartbeat = milliseconds(welcome.heartbeat_ms());
  return times;
}

AttemptId FromProto(const v1::AttemptId& id) {
  return {.trial = {.experiment = {id.experiment_id()}, .number = {id.trial_number()}},
          .attempt = id.attempt()};
}

v1::WorkerMessage ToProto(const SayHello& hello, const WorkerInfo& info) {
  v1::WorkerMessage message;
  v1::Hello& proto = *message.mutable_hello();
  proto.set_name(info.name);
  proto.set_incarnation(info.incarnation);
  proto.set_host(info.host);
  proto.set_version(RUNG_VERSION);
  *proto.mutable_total() = rung::ToProto(info.total);
  for (const std::string& name : info.gpu_names) proto.add_gpu_names(name);
  for (const HeldAttempt& held : hello.held) {
    v1::HeldAttempt& entry = *proto.add_held();
    *entry.mutable_attempt() = rung::ToProto(held.attempt);
    entry.set_state(rung::ToProto(held.state));
    entry.set_last_stored_step(held.last_stored_step);
  }
  return message;
}

v1::WorkerMessage ToProto(const TellStarted& started) {
  v1::WorkerMessage message;
  *message.mutable_attempt_started()->mutable_attempt() = rung::ToProto(started.attempt);
  return message;
}

v1::WorkerMessage ToProto(const TellReport& report) {
  v1::WorkerMessage message;
  v1::WorkerReport& proto = *message.mutable_report();
  proto.set_report_id(report.report_id);
  *proto.mutable_attempt() = rung::ToProto(report.attempt);
  proto.set_rank(report.rank);
  proto.set_step(report.step);
  for (const MetricValue& metric : report.metrics) *proto.add_metrics() = rung::ToProto(metric);
  return message;
}

v1::WorkerMessage ToProto(const TellCheckpoint& checkpoint) {
  v1::WorkerMessage message;
  v1::CheckpointReported& proto = *message.mutable_checkpoint();
  proto.set_report_id(checkpoint.report_id);
  *proto.mutable_attempt() = rung::ToProto(checkpoint.attempt);
  proto.set_step(checkpoint.step);
  proto.set_path(checkpoint.path);
  proto.set_bytes(checkpoint.bytes);
  return message;
}

v1::WorkerMessage ToProto(const TellRankExited& exited) {
  v1::WorkerMessage message;
  *message.mutable_rank_exited()->mutable_attempt() = rung::ToProto(exited.attempt);
  message.mutable_rank_exited()->set_rank(exited.rank);
  return message;
}

v1::WorkerMessage ToProto(const TellExited& exited) {
  v1::WorkerMessage message;
  v1::AttemptExited& proto = *message.mutable_attempt_exited();
  *proto.mutable_attempt() = rung::ToProto(exited.attempt);
  proto.set_cause(rung::ToProto(exited.cause));
  if (exited.exit_code) proto.set_exit_code(*exited.exit_code);
  proto.set_failed_rank(exited.failed_rank);
  proto.set_message(ValidUtf8(exited.message));
  for (const auto& [rank, text] : exited.stderr_tails) {
    v1::LogTail& tail = *proto.add_stderr_tails();
    tail.set_rank(rank);
    tail.set_text(ValidUtf8(text));
  }
  return message;
}

v1::WorkerMessage HeartbeatMessage() {
  v1::WorkerMessage message;
  message.mutable_heartbeat();
  return message;
}

v1::WorkerMessage GoodbyeMessage() {
  v1::WorkerMessage message;
  message.mutable_goodbye();
  return message;
}

}  // namespace rung::worker
