#include "trial_runner/worker/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace rung::worker {
namespace {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

std::string DescribeExit(int32_t rank, int32_t exit_code, int32_t signal) {
  if (signal == 9) {
    return fmt::format("rank {} was ended by signal 9 (SIGKILL), as the kernel does without memory",
                       rank);
  }
  if (signal != 0) return fmt::format("rank {} was ended by signal {}", rank, signal);
  return fmt::format("rank {} exited with status {}", rank, exit_code);
}

}  // namespace

Effects Runner::Step(const Event& event, MonoTime now) {
  Effects out;
  std::visit(Overloaded{
                 [&](const SchedulerConnected&) { OnConnected(out); },
                 [&](const SchedulerLost&) { connected_ = false; },
                 [&](const Welcomed& e) { OnWelcomed(e, now, out); },
                 [&](const StartAttempt& e) { OnStartAttempt(e, now); },
                 [&](const StopAttempt& e) { OnStopAttempt(e, now, out); },
                 [&](const ReportAnswered& e) { OnReportAnswered(e, now, out); },
                 [&](const CheckpointAcknowledged& e) { OnCheckpointAcknowledged(e, out); },
                 [&](const ExitAcknowledged& e) {
                   const Attempt* attempt = Find(e.attempt);
                   if (attempt != nullptr && attempt->exit) attempts_.erase(e.attempt);
                 },
                 [&](const LaunchFailed& e) { OnLaunchFailed(e, now, out); },
                 [&](const RankStarted& e) { OnRankStarted(e, out); },
                 [&](const RankCouldNotStart& e) { OnRankCouldNotStart(e, now, out); },
                 [&](const RankExited& e) { OnRankExited(e, now, out); },
                 [&](const RankGone& e) { OnRankGone(e, now, out); },
                 [&](const RankReport& e) { OnReport(e, now, out); },
                 [&](const CheckpointWritten& e) { OnCheckpoint(e, now, out); },
                 [&](const ShutdownRequested&) { OnShutdown(now, out); },
                 [&](const Tick&) { OnTick(now, out); },
             },
             event);
  Settle(now, out);
  return out;
}

void Runner::OnConnected(Effects& out) {
  connected_ = false;  // nothing else is sent before the welcome
  SayHello hello;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.discarded) continue;
    hello.held.push_back({.attempt = id,
                          .state = attempt.state,
                          .last_stored_step = attempt.window.last_stored_step()});
  }
  out.push_back(std::move(hello));
}

void Runner::OnWelcomed(const Welcomed& event, MonoTime now, Effects& out) {
  connected_ = true;
  const std::set<AttemptId> keep(event.keep.begin(), event.keep.end());
  for (auto& [id, attempt] : attempts_) {
    if (!keep.contains(id)) {
      attempt.discarded = true;
      if (attempt.launched) Kill(attempt, out);
    }
    if (attempt.discarded) continue;
    const bool has_run =
        attempt.state == AttemptState::kRunning || attempt.state == AttemptState::kStopping;
    if (has_run) out.push_back(TellStarted{id});
    attempt.window.Resend(/*all=*/true, now, out);
    for (auto& [report_id, checkpoint] : attempt.checkpoints) SendCheckpoint(checkpoint, now, out);
    for (size_t rank = 0; rank < attempt.ranks.size(); ++rank) {
      if (has_run && attempt.ranks[rank].state >= RankState::kExited) {
        out.push_back(TellRankExited{id, static_cast<int32_t>(rank)});
      }
    }
    attempt.exit_sent = false;
    attempt.exit_due = now + limits_.exit_wait;
  }
}

void Runner::OnStartAttempt(const StartAttempt& event, MonoTime now) {
  const AttemptSpec& spec = event.spec;
  if (shutting_down_ || attempts_.contains(spec.attempt)) return;  // a repeat changes nothing
  Attempt attempt{.spec = spec,
                  .window = ReportWindow(spec.attempt, spec.processes, spec.reduce, limits_)};
  attempt.ranks.resize(static_cast<size_t>(std::max(spec.processes, 1)));
  attempt.launch_by = now + limits_.launch_wait;
  attempts_.emplace(spec.attempt, std::move(attempt));
}

void Runner::OnStopAttempt(const StopAttempt& event, MonoTime now, Effects& out) {
  Attempt* attempt = Find(event.attempt);
  if (attempt == nullptr || attempt->exit) return;
  attempt->window.Decide(event.decision, now, out);
  const std::chrono::milliseconds first_grace =
      event.at_once ? std::chrono::milliseconds(0) : event.grace;
  WantStop(*attempt, first_grace, event.grace, now, out);
}

void Runner::OnReportAnswered(const ReportAnswered& event, MonoTime now, Effects& out) {
  Attempt* attempt = Find(event.attempt);
  if (attempt == nullptr) return;
  attempt->window.Answer(event, now, out);
  if (event.decision != Decision::kContinue && !attempt->exit) {
    WantStop(*attempt, event.grace, attempt->spec.grace, now, out);
  }
}

void Runner::OnCheckpointAcknowledged(const CheckpointAcknowledged& event, Effects& out) {
  Attempt* attempt = Find(event.attempt);
  if (attempt == nullptr) return;
  const auto it = attempt->checkpoints.find(event.report_id);
  if (it == attempt->checkpoints.end()) return;
  if (event.error.empty()) {
    out.push_back(AnswerStored{it->second.request});
  } else {
    out.push_back(AnswerError{it->second.request, event.error});
  }
  attempt->checkpoints.erase(it);
}

void Runner::OnLaunchFailed(const LaunchFailed& event, MonoTime now, Effects& out) {
  Attempt* attempt = Find(event.attempt);
  if (attempt == nullptr) return;
  attempt->start_failure = attempt->stop_wanted ? ExitCause::kStopped : event.cause;
  attempt->message = event.message;
  for (Rank& rank : attempt->ranks) rank.state = RankState::kGone;
  CloseIfGone(*attempt, now, out);
}

void Runner::OnRankStarted(const RankStarted& event, Effects& out) {
  Attempt* attempt = FindRank(event.attempt, event.rank);
  if (attempt == nullptr) return;
  Rank& rank = attempt->ranks[static_cast<size_t>(event.rank)];
  if (rank.state == RankState::kStarting) rank.state = RankState::kRunning;
  const bool all_started = std::ranges::all_of(
      attempt->ranks, [](const Rank& r) { return r.state != RankState::kStarting; });
  if (attempt->state != AttemptState::kStarting || !all_started || attempt->start_failure) return;
  attempt->state = attempt->stop_wanted ? AttemptState::kStopping : AttemptState::kRunning;
  if (connected_ && !attempt->discarded) out.push_back(TellStarted{event.attempt});
}

void Runner::OnRankCouldNotStart(const RankCouldNotStart& event, MonoTime now, Effects& out) {
  Attempt* attempt = FindRank(event.attempt, event.rank);
  if (attempt == nullptr) return;
  attempt->ranks[static_cast<size_t>(event.rank)].state = RankState::kGone;
  if (!attempt->start_failure && attempt->failed_rank < 0) {
    attempt->start_failure = event.cause;
    attempt->message = fmt::format("rank {}: {}", event.rank, event.message);
    Kill(*attempt, out);  // a gang starts whole or not at all
  }
  CloseIfGone(*attempt, now, out);
}

void Runner::OnRankExited(const RankExited& event, MonoTime now, Effects& out) {
  Attempt* attempt = FindRank(event.attempt, event.rank);
  if (attempt == nullptr) return;
  Rank& rank = attempt->ranks[static_cast<size_t>(event.rank)];
  if (rank.state >= RankState::kExited) return;
  rank.state = RankState::kExited;
  rank.signal = event.signal;
  rank.exit_code = event.signal != 0 ? 128 + event.signal : event.code;
  attempt->window.OnRankExited(event.rank, now, out);
  if (connected_ && !attempt->discarded) out.push_back(TellRankExited{event.attempt, event.rank});

  const bool failed =
      rank.exit_code != 0 && !rank.signalled && !attempt->start_failure && attempt->failed_rank < 0;
  if (!failed) return;
  if (!attempt->stop_wanted) {  // else the decision stays the cause, whatever the status
    attempt->failed_rank = event.rank;
    attempt->message = DescribeExit(event.rank, rank.exit_code, rank.signal);
  }
  attempt->state = AttemptState::kStopping;
  attempt->kill_grace = attempt->spec.failure_grace;
  Terminate(*attempt, now, out);
}

void Runner::OnRankGone(const RankGone& event, MonoTime now, Effects& out) {
  Attempt* attempt = FindRank(event.attempt, event.rank);
  if (attempt == nullptr) return;
  Rank& rank = attempt->ranks[static_cast<size_t>(event.rank)];
  rank.state = RankState::kGone;
  rank.stderr_tail = event.stderr_tail;
  CloseIfGone(*attempt, now, out);
}

void Runner::OnReport(const RankReport& event, MonoTime now, Effects& out) {
  Attempt* attempt = FindRank(event.attempt, event.rank);
  if (attempt == nullptr || attempt->exit || attempt->discarded) {
    out.push_back(AnswerError{event.request, "this attempt is over"});
    return;
  }
  attempt->window.Add(next_report_id_++, event, connected_, now, out);
}

void Runner::OnCheckpoint(const CheckpointWritten& event, MonoTime now, Effects& out) {
  Attempt* attempt = Find(event.attempt);
  if (attempt == nullptr || attempt->discarded || attempt->exit_sent) {
    out.push_back(AnswerError{event.request, "this attempt is over"});
    return;
  }
  const uint64_t id = next_report_id_++;
  Checkpoint checkpoint{
      .message = {.report_id = id,
                  .attempt = event.attempt,
                  .step = event.step,
                  .path = event.path,
                  .bytes = event.bytes},
      .request = event.request,
  };
  if (connected_) SendCheckpoint(checkpoint, now, out);
  attempt->checkpoints.emplace(id, std::move(checkpoint));
}

void Runner::OnShutdown(MonoTime now, Effects& out) {
  shutting_down_ = true;
  tell_until_ = now + limits_.exit_wait;
  for (auto& [id, attempt] : attempts_) {
    const bool over = std::ranges::all_of(
        attempt.ranks, [](const Rank& rank) { return rank.state >= RankState::kExited; });
    if (over) continue;  // by itself: the scheduler is to hear of it
    attempt.cut_short = true;
    if (!attempt.launched) {
      attempt.discarded = true;  // the scheduler sees it lost with this worker
      continue;
    }
    WantStop(attempt, std::chrono::milliseconds(0),
             std::min(attempt.spec.grace, limits_.shutdown_grace_max), now, out);
  }
}

void Runner::OnTick(MonoTime now, Effects& out) {
  for (auto& [id, attempt] : attempts_) {
    if (shutting_down_ && now >= tell_until_ && attempt.exit && IsToBeTold(attempt)) {
      out.push_back(LogWarning{id, "it has ended, but no scheduler was there to be told in time"});
      attempt.discarded = true;
    }
    if (attempt.state == AttemptState::kAssigned && !attempt.exit && now >= attempt.launch_by) {
      attempt.start_failure = ExitCause::kCouldNotStart;
      attempt.message = "the resources that it was given did not become free in time";
      for (Rank& rank : attempt.ranks) rank.state = RankState::kGone;
      CloseIfGone(attempt, now, out);
    }
    if (attempt.term_at && now >= *attempt.term_at) Terminate(attempt, now, out);
    if (attempt.kill_at && now >= *attempt.kill_at) Kill(attempt, out);
    attempt.window.OnTime(now, out);
    if (!connected_ || attempt.discarded) continue;
    attempt.window.Resend(/*all=*/false, now, out);
    for (auto& [report_id, checkpoint] : attempt.checkpoints) {
      if (now - checkpoint.sent >= limits_.resend_interval) SendCheckpoint(checkpoint, now, out);
    }
  }
}

std::optional<MonoTime> Runner::NextDeadline() const {
  std::optional<MonoTime> next;
  const auto consider = [&](std::optional<MonoTime> time) {
    if (time) next = next ? std::min(*next, *time) : *time;
  };
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.state == AttemptState::kAssigned) consider(attempt.launch_by);
    consider(attempt.term_at);
    consider(attempt.kill_at);
    consider(attempt.window.NextDeadline(connected_ && !attempt.discarded));
    const bool to_be_told = attempt.exit && IsToBeTold(attempt);
    if (shutting_down_ && to_be_told) consider(tell_until_);
    if (!connected_ || attempt.discarded) continue;
    if (to_be_told) consider(attempt.exit_due);
    for (const auto& [report_id, checkpoint] : attempt.checkpoints) {
      consider(checkpoint.sent + limits_.resend_interval);
    }
  }
  return next;
}

bool Runner::NoProcessLeft() const {
  return std::ranges::none_of(attempts_, [](const auto& item) { return item.second.launched; });
}

bool Runner::IsToBeTold(const Attempt& attempt) { return !attempt.discarded && !attempt.cut_short; }

bool Runner::MayEnd() const {
  return NoProcessLeft() && std::ranges::none_of(attempts_, [](const auto& item) {
           return item.second.exit && IsToBeTold(item.second);
         });
}

Runner::Attempt* Runner::Find(AttemptId id) {
  const auto it = attempts_.find(id);
  return it == attempts_.end() ? nullptr : &it->second;
}

Runner::Attempt* Runner::FindRank(AttemptId id, int32_t rank) {
  Attempt* attempt = Find(id);
  const bool exists =
      attempt != nullptr && rank >= 0 && static_cast<size_t>(rank) < attempt->ranks.size();
  return exists ? attempt : nullptr;
}

bool Runner::Fits(const AttemptSpec& spec) const {
  Resources used = spec.per_process.Times(spec.processes);
  for (const auto& [id, attempt] : attempts_) {
    if (!attempt.launched) continue;
    const Resources held = attempt.spec.per_process.Times(attempt.spec.processes);
    used.milli_cpus += held.milli_cpus;
    used.memory_bytes += held.memory_bytes;
    used.gpus += held.gpus;
  }
  return used.milli_cpus <= total_.milli_cpus && used.gpus <= total_.gpus &&
         (total_.memory_bytes == 0 || used.memory_bytes <= total_.memory_bytes);
}

void Runner::LaunchWaiting(Effects& out) {
  for (auto& [id, attempt] : attempts_) {
    if (attempt.state != AttemptState::kAssigned || attempt.discarded || !Fits(attempt.spec)) {
      continue;
    }
    attempt.state = AttemptState::kStarting;
    attempt.launched = true;
    out.push_back(LaunchGang{attempt.spec});
  }
}

void Runner::WantStop(Attempt& attempt, std::chrono::milliseconds first_grace,
                      std::chrono::milliseconds kill_grace, MonoTime now, Effects& out) {
  attempt.stop_wanted = true;
  if (attempt.state == AttemptState::kAssigned) {  // not launched: there is nothing to end
    for (Rank& rank : attempt.ranks) rank.state = RankState::kGone;
    CloseIfGone(attempt, now, out);
    return;
  }
  if (attempt.state == AttemptState::kRunning) attempt.state = AttemptState::kStopping;
  if (attempt.kill_at) {  // SIGTERM has been sent; at most the end comes earlier
    attempt.kill_at = std::min(*attempt.kill_at, now + first_grace + kill_grace);
    return;
  }
  const MonoTime term_at = now + first_grace;
  if (!attempt.term_at || term_at <= *attempt.term_at) {
    attempt.term_at = term_at;
    attempt.kill_grace = kill_grace;
  }
  if (*attempt.term_at <= now) Terminate(attempt, now, out);
}

void Runner::Terminate(Attempt& attempt, MonoTime now, Effects& out) {
  attempt.term_at.reset();
  for (size_t i = 0; i < attempt.ranks.size(); ++i) {
    Rank& rank = attempt.ranks[i];
    if (rank.state >= RankState::kExited) continue;
    rank.signalled = true;
    out.push_back(TerminateRank{attempt.spec.attempt, static_cast<int32_t>(i)});
  }
  attempt.kill_at = now + attempt.kill_grace;
}

void Runner::Kill(Attempt& attempt, Effects& out) {
  attempt.term_at.reset();
  attempt.kill_at.reset();
  for (size_t i = 0; i < attempt.ranks.size(); ++i) {
    Rank& rank = attempt.ranks[i];
    if (rank.state == RankState::kGone) continue;
    if (rank.state < RankState::kExited) rank.signalled = true;
    out.push_back(KillRank{attempt.spec.attempt, static_cast<int32_t>(i)});
  }
}

void Runner::CloseIfGone(Attempt& attempt, MonoTime now, Effects& out) {
  const bool gone = std::ranges::all_of(
      attempt.ranks, [](const Rank& rank) { return rank.state == RankState::kGone; });
  if (!gone || attempt.exit) return;
  if (attempt.launched) out.push_back(CloseAttempt{attempt.spec.attempt});
  attempt.launched = false;
  attempt.term_at.reset();
  attempt.kill_at.reset();
  attempt.window.DropRequests();
  attempt.exit = ExitOf(attempt);
  attempt.state = AttemptState::kExited;
  attempt.exit_due = now + limits_.exit_wait;
}

TellExited Runner::ExitOf(const Attempt& attempt) const {
  TellExited exit{.attempt = attempt.spec.attempt, .message = attempt.message};
  if (attempt.start_failure) {
    exit.cause = *attempt.start_failure;
    return exit;
  }
  if (attempt.failed_rank >= 0) {
    exit.cause = ExitCause::kFailed;
    exit.failed_rank = attempt.failed_rank;
    exit.exit_code = attempt.ranks[static_cast<size_t>(attempt.failed_rank)].exit_code;
    for (size_t i = 0; i < attempt.ranks.size(); ++i) {
      const Rank& rank = attempt.ranks[i];
      // Peers that we ended are victims, not causes.
      const bool failed = rank.exit_code != 0 && !rank.signalled;
      if (!failed || exit.stderr_tails.size() == limits_.stderr_tails_max) continue;
      exit.stderr_tails.emplace_back(static_cast<int32_t>(i), rank.stderr_tail);
    }
    return exit;
  }
  const auto first_bad =
      std::ranges::find_if(attempt.ranks, [](const Rank& rank) { return rank.exit_code != 0; });
  const bool started = attempt.ranks.empty() || attempt.state != AttemptState::kAssigned;
  if (started) exit.exit_code = first_bad == attempt.ranks.end() ? 0 : first_bad->exit_code;
  exit.cause = attempt.stop_wanted ? ExitCause::kStopped : ExitCause::kCompleted;
  return exit;
}

void Runner::TellExitIfDue(Attempt& attempt, MonoTime now, Effects& out) {
  if (!attempt.exit || !IsToBeTold(attempt) || !connected_) return;
  const bool answered = attempt.window.Delivered() && attempt.checkpoints.empty();
  const bool first = !attempt.exit_sent && answered;
  if (!first && now < attempt.exit_due) return;
  out.push_back(*attempt.exit);
  attempt.exit_sent = true;
  attempt.exit_due = now + limits_.resend_interval;
}

void Runner::SendCheckpoint(Checkpoint& checkpoint, MonoTime now, Effects& out) const {
  checkpoint.sent = now;
  out.push_back(checkpoint.message);
}

void Runner::Settle(MonoTime now, Effects& out) {
  std::erase_if(attempts_,
                [](const auto& item) { return item.second.discarded && !item.second.launched; });
  LaunchWaiting(out);
  for (auto& [id, attempt] : attempts_) TellExitIfDue(attempt, now, out);
}

}  // namespace rung::worker
