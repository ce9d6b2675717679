#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/event.h"
#include "scheduler/output.h"

/// A worker whose trials follow a curve, one action at a time. It repeats a report, a checkpoint or
/// an exit until it is answered, as the real one does.
namespace rung {

class SimWorker {
 public:
  /// `last_step` is where a trial ends by itself; `checkpoint_every` 0: never.
  SimWorker(std::string name, Resources total, Steps last_step, Steps checkpoint_every = 0)
      : name_(std::move(name)),
        total_(total),
        last_step_(last_step),
        checkpoint_every_(checkpoint_every) {}

  const std::string& name() const { return name_; }
  bool connected() const { return session_.has_value(); }
  bool idle() const { return attempts_.empty(); }
  SessionId session() const { return *session_; }
  std::vector<AttemptId> attempts() const {
    std::vector<AttemptId> ids;
    for (const auto& [id, attempt] : attempts_) ids.push_back(id);
    return ids;
  }

  WorkerConnected Connect(SessionId session) {
    session_ = session;
    WorkerConnected hello;
    hello.session = session;
    hello.worker.name = name_;
    hello.worker.incarnation = std::to_string(incarnation_);
    hello.worker.total = total_;
    for (auto& [id, attempt] : attempts_) {
      attempt.sent.clear();
      const AttemptState state = attempt.exit        ? AttemptState::kExited
                                 : attempt.stopping  ? AttemptState::kStopping
                                 : attempt.announced ? AttemptState::kRunning
                                                     : AttemptState::kStarting;
      hello.held.push_back({id, state, attempt.step});
    }
    return hello;
  }
  void Disconnect() { session_.reset(); }
  /// The daemon and all its processes are gone; it starts again.
  void Crash() {
    Disconnect();
    attempts_.clear();
    ++incarnation_;
  }
  /// Lets `attempt` end with `cause` as its next action, unless it has ended.
  void End(AttemptId attempt, ExitCause cause) {
    SimAttempt& a = attempts_.at(attempt);
    if (!a.exit) a.exit = ExitOf(attempt, cause);
  }

  /// The next thing that happens in `attempt`. Needs a session.
  Event NextEvent(AttemptId id) {
    SimAttempt& attempt = attempts_.at(id);
    for (const WorkerReport& report : attempt.reports) {
      if (attempt.sent.insert(report.report_id).second) return WithSession(report);
    }
    if (attempt.checkpoint) return WithSession(*attempt.checkpoint);
    if (attempt.exit) return WithSession(*attempt.exit);
    if (!attempt.announced) {
      attempt.announced = true;
      return AttemptStarted{*session_, id};
    }
    if (attempt.stopping || attempt.step >= last_step_) {
      attempt.exit = ExitOf(id, attempt.stopping ? ExitCause::kStopped : ExitCause::kCompleted);
      return WithSession(*attempt.exit);
    }
    ++attempt.step;
    MakeReports(id, attempt);
    attempt.sent = {attempt.reports.front().report_id};
    return WithSession(attempt.reports.front());
  }
  /// Whether something of `attempt` waits for its answer.
  bool Waits(AttemptId id) const {
    const auto it = attempts_.find(id);
    if (it == attempts_.end()) return false;
    return !it->second.reports.empty() || it->second.checkpoint || it->second.exit;
  }

  void Deliver(const ToWorker& message) {
    if (!session_ || message.session != *session_) return;
    std::visit([&](const auto& command) { On(command); }, message.command);
  }

  /// Errors with which reports were answered.
  std::vector<std::string> errors;
  /// What trials report.
  std::function<double(TrialId, Steps)> curve = &SimWorker::Curve;

  /// The value that a trial reports at a step, whatever attempt and worker it is on.
  static double Curve(TrialId trial, Steps step) {
    const auto n = static_cast<uint64_t>(trial.number.value * 1000 + step);
    const uint64_t noise = (n * 2654435761u) % 1000;
    return 1.0 / static_cast<double>(step) + 0.01 * ((trial.number.value * 37) % 11) +
           1e-5 * static_cast<double>(noise);
  }

 private:
  struct SimAttempt {
    StartAttempt start;
    bool announced = false;
    bool stopping = false;
    Steps step = 0;
    std::vector<WorkerReport> reports;  ///< not answered
    std::set<uint64_t> sent;            ///< ids of reports sent in this session
    std::optional<CheckpointReported> checkpoint;
    std::optional<AttemptExited> exit;
  };

  template <typename E>
  E WithSession(E event) const {
    event.session = *session_;
    return event;
  }

  AttemptExited ExitOf(AttemptId id, ExitCause cause) const {
    AttemptExited exit;
    exit.attempt = id;
    exit.cause = cause;
    if (cause == ExitCause::kFailed) exit.exit_code = 1;
    return exit;
  }

  void MakeReports(AttemptId id, SimAttempt& attempt) {
    for (int32_t rank = 0; rank < attempt.start.trial.processes; ++rank) {
      WorkerReport report;
      report.report_id = ++last_report_;
      report.attempt = id;
      report.rank = rank;
      report.step = attempt.step;
      report.metrics = {{"loss", curve(id.trial, attempt.step) + 0.001 * rank, 1}};
      attempt.reports.push_back(std::move(report));
    }
    if (checkpoint_every_ > 0 && attempt.step % checkpoint_every_ == 0) {
      CheckpointReported checkpoint;
      checkpoint.report_id = ++last_report_;
      checkpoint.attempt = id;
      checkpoint.step = attempt.step;
      checkpoint.path = "/c/" + ToString(id) + "/" + std::to_string(attempt.step);
      attempt.checkpoint = checkpoint;
    }
  }

  void On(const Welcome& welcome) {
    std::erase_if(attempts_, [&](const auto& entry) {
      return std::ranges::find(welcome.keep, entry.first) == welcome.keep.end();
    });
  }
  void On(const RefuseWorker&) { Disconnect(); }
  void On(const StartAttempt& start) {
    const auto [it, fresh] = attempts_.try_emplace(start.attempt);
    if (!fresh) return;
    it->second.start = start;
    it->second.step = start.resume_step;
  }
  void On(const StopAttempt& stop) {
    if (const auto it = attempts_.find(stop.attempt); it != attempts_.end()) {
      it->second.stopping = true;
    }
  }
  void On(const AnswerReport& answer) {
    if (!answer.error.empty()) errors.push_back(answer.error);
    const auto it = attempts_.find(answer.attempt);
    if (it == attempts_.end()) return;
    std::erase_if(it->second.reports, [&](const WorkerReport& report) {
      return std::ranges::find(answer.report_ids, report.report_id) != answer.report_ids.end();
    });
    if (answer.decision != Decision::kContinue) it->second.stopping = true;
  }
  void On(const AcknowledgeCheckpoint& answer) {
    if (!answer.error.empty()) errors.push_back(answer.error);
    const auto it = attempts_.find(answer.attempt);
    if (it != attempts_.end()) it->second.checkpoint.reset();
  }
  void On(const AcknowledgeExit& answer) { attempts_.erase(answer.attempt); }

  std::string name_;
  Resources total_;
  Steps last_step_;
  Steps checkpoint_every_;
  int incarnation_ = 1;
  std::optional<SessionId> session_;
  std::map<AttemptId, SimAttempt> attempts_;
  uint64_t last_report_ = 0;
};

}  // namespace rung
