#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/scheduler.h"
#include "storage/memory_storage.h"

/// A scheduler with its storage, driven by hand: each event is one step and one commit.
namespace rung {

class World {
 public:
  explicit World(SchedulerConfig config = {}) : config_(config), scheduler_(config) {}

  /// Steps and commits; the messages stay readable until the next event.
  const std::vector<Message>& Do(const Event& event) {
    Output out = scheduler_.Step(event, now);
    const absl::Status status = storage.Commit(out.writes);
    EXPECT_TRUE(status.ok()) << status;
    if (on_commit) on_commit(out.writes);
    messages = std::move(out.messages);
    return messages;
  }

  /// Moves both clocks and lets the scheduler look at its deadlines.
  void Advance(std::chrono::milliseconds by) {
    now.mono += by;
    now.wall.us += std::chrono::microseconds(by).count();
    Do(Tick{});
  }

  /// Throws the scheduler away as kill -9 does and restores one from what was committed.
  void Restart() {
    scheduler_ = Scheduler(config_);
    const absl::Status status = scheduler_.Restore(
        *storage.Load(), now,
        [this](std::string_view document) -> absl::StatusOr<ExperimentSpec> {
          if (document == refused_document) return absl::InvalidArgumentError("space: refused");
          return specs_.at(std::string(document));
        },
        [this](ExperimentId experiment) { return storage.LoadObjective(experiment); });
    ASSERT_TRUE(status.ok()) << status;
  }

  /// A second world that was restored from what this one has committed.
  World CopyRestored() const {
    World copy(config_);
    copy.storage = storage;
    copy.now = now;
    copy.specs_ = specs_;
    copy.Restart();
    return copy;
  }

  /// Submits; the document is a key under which Restart finds the specification again.
  absl::StatusOr<ExperimentId> TryCreate(const ExperimentSpec& spec, std::string request_id = "") {
    CreateExperiment event;
    event.reply = NextToken();
    event.request_id = std::move(request_id);
    event.owner = "ada";
    event.document = "document " + std::to_string(specs_.size());
    event.spec = spec;
    specs_[event.document] = spec;
    Do(event);
    const absl::StatusOr<ReplyValue> reply = ReplyTo(event.reply);
    if (!reply.ok()) return reply.status();
    return std::get<ExperimentCreated>(*reply).experiment;
  }
  ExperimentId Create(const ExperimentSpec& spec) {
    const absl::StatusOr<ExperimentId> id = TryCreate(spec);
    EXPECT_TRUE(id.ok()) << id.status();
    return id.value_or(ExperimentId{});
  }

  /// Connects a worker in a new session.
  SessionId Connect(const std::string& name, Resources total, std::vector<HeldAttempt> held = {},
                    const std::string& incarnation = "1") {
    WorkerConnected event;
    event.session = {++last_session_};
    event.worker.name = name;
    event.worker.incarnation = incarnation;
    event.worker.total = total;
    event.held = std::move(held);
    Do(event);
    return event.session;
  }

  /// Reports one metric of one rank; its answer, if there is one.
  std::optional<AnswerReport> Report(SessionId session, AttemptId attempt, Steps step, double value,
                                     const std::string& name = "loss", int32_t rank = 0) {
    WorkerReport event;
    event.session = session;
    event.report_id = ++last_report_;
    event.attempt = attempt;
    event.rank = rank;
    event.step = step;
    event.metrics = {{name, value, 1}};
    Do(event);
    const std::vector<AnswerReport> answers = Commands<AnswerReport>();
    if (answers.empty()) return std::nullopt;
    return answers.front();
  }

  void Exit(SessionId session, AttemptId attempt, ExitCause cause = ExitCause::kCompleted) {
    AttemptExited event;
    event.session = session;
    event.attempt = attempt;
    event.cause = cause;
    if (cause == ExitCause::kRefused) event.message = "no folder /x";
    if (cause == ExitCause::kCouldNotStart) event.message = "the disk is full";
    if (cause == ExitCause::kFailed) event.exit_code = 1;
    Do(event);
  }

  /// The commands of one kind in the last step's messages, whoever they are for.
  template <typename Command>
  std::vector<Command> Commands() const {
    std::vector<Command> found;
    for (const Message& message : messages) {
      const auto* to = std::get_if<ToWorker>(&message);
      if (to == nullptr) continue;
      if (const auto* command = std::get_if<Command>(&to->command)) found.push_back(*command);
    }
    return found;
  }

  absl::StatusOr<ReplyValue> ReplyTo(ReplyToken token) const {
    for (const Message& message : messages) {
      const auto* reply = std::get_if<Reply>(&message);
      if (reply != nullptr && reply->token.value == token.value) return reply->value;
    }
    return absl::InternalError("no reply");
  }
  ReplyToken NextToken() { return {++last_token_}; }

  const TrialRow& TrialAt(ExperimentId experiment, int32_t number) const {
    return storage.tables().trials.at({experiment, {number}});
  }
  const AttemptRow& AttemptAt(ExperimentId experiment, int32_t number, int32_t attempt) const {
    return storage.tables().attempts.at({{experiment, {number}}, attempt});
  }
  const ExperimentRow& ExperimentAt(ExperimentId id) const {
    return storage.tables().experiments.at(id);
  }
  std::string Describe() const { return scheduler_.Describe(); }

  MemoryStorage storage;
  std::function<void(const WriteBatch&)> on_commit;
  std::string refused_document;  ///< by Restart, as a version of other rules would
  std::vector<Message> messages;
  Now now{MonoTime(std::chrono::hours(1)), WallTime{1'700'000'000'000'000}};

 private:
  SchedulerConfig config_;
  Scheduler scheduler_;
  std::map<std::string, ExperimentSpec> specs_;
  uint64_t last_session_ = 0;
  uint64_t last_report_ = 0;
  uint64_t last_token_ = 0;
};

/// One CPU a trial, `trials` trials of one uniform parameter, minimising "loss".
inline ExperimentSpec FifoSpecOf(int32_t trials) {
  ExperimentSpec spec;
  spec.name = "e";
  spec.metric = "loss";
  spec.seed = 7;
  spec.space.parameters = {{"lr", Uniform{0, 1}, {}}};
  spec.searcher.kind = RandomSearcherSpec{trials};
  spec.scheduler = FifoSpec{};
  spec.trial.emplace();
  spec.trial->command = {"train"};
  spec.trial->working_dir = "/w";
  return spec;
}

/// The same under asha: levels 1 and 3, the end at 9.
inline ExperimentSpec AshaSpecOf(int32_t trials, AshaSpec::Variant variant) {
  ExperimentSpec spec = FifoSpecOf(trials);
  AshaSpec asha;
  asha.max_t = 9;
  asha.grace_period = 1;
  asha.reduction_factor = 3;
  asha.variant = variant;
  spec.scheduler = asha;
  spec.trial->resumable = variant == AshaSpec::Variant::kPromotion;
  return spec;
}

inline AttemptId AttemptOf(ExperimentId experiment, int32_t number, int32_t attempt = 0) {
  return {{experiment, {number}}, attempt};
}

}  // namespace rung
