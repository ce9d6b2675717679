#include "scheduler/session_codec.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "core/check.h"
#include "proto/utf8.h"
#include "scheduler/proto_codec.h"

namespace rung {
namespace {

constexpr size_t kWorkerNameBytesMax = 256;
constexpr size_t kPathBytesMax = 4'096;
constexpr int kHeldAttemptsMax = 10'000;
constexpr int kRanksMax = 1'024;
constexpr size_t kStderrTailBytesMax = 64 * 1'024;
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

absl::StatusOr<Steps> StepFromProto(int64_t step) {
  return NumberFromProto("step", step, 0, kInt64Max);
}

absl::StatusOr<int32_t> RankFromProto(int32_t rank) {
  const auto value = NumberFromProto("rank", rank, 0, kRanksMax - 1);
  if (!value.ok()) return value.status();
  return rank;
}

absl::StatusOr<WorkerInfo> InfoFromProto(const v1::Hello& hello) {
  WorkerInfo info;
  if (hello.name().empty()) return absl::InvalidArgumentError("hello.name: must not be empty");
  const std::pair<const std::string*, std::string*> texts[] = {
      {&hello.name(), &info.name},
      {&hello.incarnation(), &info.incarnation},
      {&hello.host(), &info.host},
      {&hello.version(), &info.version}};
  for (const auto& [from, to] : texts) {
    absl::StatusOr<std::string> text = TextFromProto("hello", *from, kWorkerNameBytesMax);
    if (!text.ok()) return text.status();
    *to = *std::move(text);
  }
  if (info.name.find(',') != std::string::npos) {
    return absl::InvalidArgumentError(
        fmt::format("hello.name: must not hold a comma, found \"{}\"", info.name));
  }
  absl::StatusOr<Resources> total = FromProto(hello.total());
  if (!total.ok()) return total.status();
  info.total = *total;
  for (const std::string& name : hello.gpu_names()) info.gpu_names.push_back(name);
  return info;
}

absl::StatusOr<Event> Decode(SessionId session, const v1::Hello& hello) {
  absl::StatusOr<WorkerInfo> info = InfoFromProto(hello);
  if (!info.ok()) return info.status();
  WorkerConnected event{.session = session, .worker = *std::move(info), .held = {}};
  const auto count = NumberFromProto("the number of held attempts", hello.held_size(), 0,
                                     int64_t{kHeldAttemptsMax});
  if (!count.ok()) return count.status();
  for (const v1::HeldAttempt& held : hello.held()) {
    const absl::StatusOr<AttemptId> attempt = FromProto(held.attempt());
    if (!attempt.ok()) return attempt.status();
    const absl::StatusOr<AttemptState> state = FromProto(held.state());
    if (!state.ok()) return state.status();
    const absl::StatusOr<Steps> step = StepFromProto(held.last_stored_step());
    if (!step.ok()) return step.status();
    event.held.push_back({.attempt = *attempt, .state = *state, .last_stored_step = *step});
  }
  return event;
}

absl::StatusOr<Event> Decode(SessionId session, const v1::Heartbeat&) {
  return WorkerHeartbeat{.session = session};
}

absl::StatusOr<Event> Decode(SessionId session, const v1::Goodbye&) {
  return WorkerGoodbye{.session = session};
}

absl::StatusOr<Event> Decode(SessionId session, const v1::AttemptStarted& message) {
  const absl::StatusOr<AttemptId> attempt = FromProto(message.attempt());
  if (!attempt.ok()) return attempt.status();
  return AttemptStarted{.session = session, .attempt = *attempt};
}

absl::StatusOr<Event> Decode(SessionId session, const v1::WorkerReport& message) {
  const absl::StatusOr<AttemptId> attempt = FromProto(message.attempt());
  if (!attempt.ok()) return attempt.status();
  const absl::StatusOr<int32_t> rank = RankFromProto(message.rank());
  if (!rank.ok()) return rank.status();
  const absl::StatusOr<Steps> step = StepFromProto(message.step());
  if (!step.ok()) return step.status();
  return WorkerReport{.session = session,
                      .report_id = message.report_id(),
                      .attempt = *attempt,
                      .rank = *rank,
                      .step = *step,
                      .metrics = FromProto(message.metrics())};
}

absl::StatusOr<Event> Decode(SessionId session, const v1::CheckpointReported& message) {
  const absl::StatusOr<AttemptId> attempt = FromProto(message.attempt());
  if (!attempt.ok()) return attempt.status();
  const absl::StatusOr<Steps> step = StepFromProto(message.step());
  if (!step.ok()) return step.status();
  absl::StatusOr<std::string> path = TextFromProto("path", message.path(), kPathBytesMax);
  if (!path.ok()) return path.status();
  if (!path->starts_with('/')) {
    return absl::InvalidArgumentError(fmt::format("path: must be absolute, found \"{}\"", *path));
  }
  const auto bytes = NumberFromProto("bytes", message.bytes(), 0, kInt64Max);
  if (!bytes.ok()) return bytes.status();
  return CheckpointReported{.session = session,
                            .report_id = message.report_id(),
                            .attempt = *attempt,
                            .step = *step,
                            .path = *std::move(path),
                            .bytes = *bytes};
}

absl::StatusOr<Event> Decode(SessionId session, const v1::RankExited& message) {
  const absl::StatusOr<AttemptId> attempt = FromProto(message.attempt());
  if (!attempt.ok()) return attempt.status();
  const absl::StatusOr<int32_t> rank = RankFromProto(message.rank());
  if (!rank.ok()) return rank.status();
  return RankExited{.session = session, .attempt = *attempt, .rank = *rank};
}

absl::StatusOr<Event> Decode(SessionId session, const v1::AttemptExited& message) {
  const absl::StatusOr<AttemptId> attempt = FromProto(message.attempt());
  if (!attempt.ok()) return attempt.status();
  const absl::StatusOr<ExitCause> cause = FromProto(message.cause());
  if (!cause.ok()) return cause.status();
  const auto count =
      NumberFromProto("the number of stderr_tails", message.stderr_tails_size(), 0, kRanksMax);
  if (!count.ok()) return count.status();
  AttemptExited event{.session = session,
                      .attempt = *attempt,
                      .cause = *cause,
                      .exit_code = {},
                      .message = ValidUtf8(message.message().substr(0, kMessageBytesMax)),
                      .stderr_tails = {}};
  if (message.has_exit_code()) event.exit_code = message.exit_code();
  for (const v1::LogTail& tail : message.stderr_tails()) {
    const absl::StatusOr<int32_t> rank = RankFromProto(tail.rank());
    if (!rank.ok()) return rank.status();
    const std::string& text = tail.text();
    const size_t skipped = text.size() - std::min(text.size(), kStderrTailBytesMax);
    event.stderr_tails.emplace_back(*rank, text.substr(skipped));
  }
  return event;
}

v1::TrialTemplate TemplateToProto(const TrialTemplate& trial) {
  v1::TrialTemplate proto;
  for (const std::string& argument : trial.command) proto.add_command(argument);
  proto.set_working_dir(trial.working_dir);
  for (const auto& [name, value] : trial.env) {
    v1::EnvironmentVariable& variable = *proto.add_env();
    variable.set_name(name);
    variable.set_value(value);
  }
  proto.set_processes(trial.processes);
  *proto.mutable_per_process() = ToProto(trial.per_process);
  proto.set_reduce(ToProto(trial.reduce));
  proto.set_resumable(trial.resumable);
  proto.set_checkpoint_root(trial.checkpoint_root);
  proto.set_grace_ms(trial.grace.count());
  proto.set_failure_grace_ms(trial.failure_grace.count());
  proto.set_finish_grace_ms(trial.finish_grace.count());
  return proto;
}

class Encoder {
 public:
  explicit Encoder(const SessionTimes& times) : times_(times) {}

  v1::SchedulerMessage operator()(const Welcome& command) const {
    v1::SchedulerMessage message;
    v1::Welcome& welcome = *message.mutable_welcome();
    for (const AttemptId attempt : command.keep) *welcome.add_keep() = ToProto(attempt);
    welcome.set_heartbeat_ms(times_.heartbeat.count());
    welcome.set_lease_ms(times_.lease.count());
    return message;
  }

  v1::SchedulerMessage operator()(const RefuseWorker&) const {
    RUNG_CHECK(false);  // ends the stream, is never sent
  }

  v1::SchedulerMessage operator()(const StartAttempt& command) const {
    v1::SchedulerMessage message;
    v1::StartAttempt& start = *message.mutable_start_attempt();
    *start.mutable_attempt() = ToProto(command.attempt);
    start.set_experiment_name(command.experiment_name);
    start.set_params_json(command.params);
    *start.mutable_trial() = TemplateToProto(command.trial);
    start.set_seed(command.seed);
    start.set_resume_step(command.resume_step);
    start.set_resume_from(command.resume_from);
    if (command.max_step) start.set_max_step(*command.max_step);
    return message;
  }

  v1::SchedulerMessage operator()(const StopAttempt& command) const {
    v1::SchedulerMessage message;
    v1::StopAttempt& stop = *message.mutable_stop_attempt();
    *stop.mutable_attempt() = ToProto(command.attempt);
    stop.set_grace_ms(command.grace.count());
    stop.set_at_once(command.at_once);
    stop.set_reason(command.reason);
    stop.set_decision(ToProto(command.decision));
    return message;
  }

  v1::SchedulerMessage operator()(const AnswerReport& command) const {
    v1::SchedulerMessage message;
    v1::AnswerReport& answer = *message.mutable_answer_report();
    *answer.mutable_attempt() = ToProto(command.attempt);
    answer.set_step(command.step);
    for (const uint64_t id : command.report_ids) answer.add_report_ids(id);
    answer.set_decision(ToProto(command.decision));
    answer.set_reason(command.reason);
    answer.set_error(command.error);
    answer.set_grace_ms(command.grace.count());
    return message;
  }

  v1::SchedulerMessage operator()(const AcknowledgeCheckpoint& command) const {
    v1::SchedulerMessage message;
    v1::AcknowledgeCheckpoint& acknowledge = *message.mutable_acknowledge_checkpoint();
    acknowledge.set_report_id(command.report_id);
    *acknowledge.mutable_attempt() = ToProto(command.attempt);
    acknowledge.set_step(command.step);
    acknowledge.set_error(command.error);
    return message;
  }

  v1::SchedulerMessage operator()(const AcknowledgeExit& command) const {
    v1::SchedulerMessage message;
    *message.mutable_acknowledge_exit()->mutable_attempt() = ToProto(command.attempt);
    return message;
  }

 private:
  const SessionTimes& times_;
};

}  // namespace

absl::StatusOr<Event> EventFromProto(SessionId session, const v1::WorkerMessage& message) {
  switch (message.message_case()) {
    case v1::WorkerMessage::kHello:
      return Decode(session, message.hello());
    case v1::WorkerMessage::kHeartbeat:
      return Decode(session, message.heartbeat());
    case v1::WorkerMessage::kAttemptStarted:
      return Decode(session, message.attempt_started());
    case v1::WorkerMessage::kReport:
      return Decode(session, message.report());
    case v1::WorkerMessage::kCheckpoint:
      return Decode(session, message.checkpoint());
    case v1::WorkerMessage::kRankExited:
      return Decode(session, message.rank_exited());
    case v1::WorkerMessage::kAttemptExited:
      return Decode(session, message.attempt_exited());
    case v1::WorkerMessage::kGoodbye:
      return Decode(session, message.goodbye());
    case v1::WorkerMessage::MESSAGE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "a worker's message of a kind that this scheduler does not know");
}

v1::SchedulerMessage ToProto(const WorkerCommand& command, const SessionTimes& times) {
  return std::visit(Encoder(times), command);
}

v1::SchedulerMessage RefusedReport(const v1::WorkerReport& report, const absl::Status& error) {
  v1::SchedulerMessage message;
  v1::AnswerReport& answer = *message.mutable_answer_report();
  *answer.mutable_attempt() = report.attempt();
  answer.set_step(report.step());
  answer.add_report_ids(report.report_id());
  answer.set_decision(v1::DECISION_CONTINUE);
  answer.set_error(RefusalText(error));
  return message;
}

}  // namespace rung
