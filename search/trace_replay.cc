#include "search/trace_replay.h"

#include <fmt/format.h>

#include <utility>

#include "core/check.h"

namespace rung {

absl::StatusOr<TraceReplay> TraceReplay::Create(const TraceSetup& setup) {
  if (setup.trials < 1 || setup.trials > kTraceTrialsMax) {
    return absl::InvalidArgumentError(fmt::format(
        "trials: must be an integer from 1 to {}, found {}", kTraceTrialsMax, setup.trials));
  }
  auto rule = MakeStoppingRule(setup.rule, setup.goal, setup.seed);
  if (!rule.ok()) return rule.status();
  return TraceReplay(*std::move(rule), setup.trials);
}

absl::StatusOr<TraceReplay::Trial*> TraceReplay::Find(TrialNumber number) {
  if (number.value < 0 || number.value >= trials_max_) {
    return absl::InvalidArgumentError(
        fmt::format("trial: must be an integer from 0 to {} (trials is {}), found {}",
                    trials_max_ - 1, trials_max_, number.value));
  }
  const auto index = static_cast<size_t>(number.value);
  if (index >= trials_.size()) trials_.resize(index + 1);
  return &trials_[index];
}

void TraceReplay::SetState(TrialNumber number, TrialState state) {
  Trial& trial = trials_[static_cast<size_t>(number.value)];
  if (!trial.state) ++started_;
  if (trial.state == TrialState::kRunning) --running_;
  if (trial.state == TrialState::kQueued) queued_.erase(number);
  trial.state = state;
  if (state == TrialState::kRunning) ++running_;
  if (state == TrialState::kQueued) queued_.insert(number);
  if (state == TrialState::kCompleted) ++completed_;
}

/// Begins an attempt.
void TraceReplay::Start(TrialNumber number) {
  SetState(number, TrialState::kRunning);
  Trial& trial = trials_[static_cast<size_t>(number.value)];
  trial.exited = false;
  trial.last_step = 0;
}

absl::StatusOr<ReportAnswer> TraceReplay::OnReport(const RuleReport& report) {
  const absl::StatusOr<Trial*> found = Find(report.trial);
  if (!found.ok()) return found.status();
  Trial& trial = **found;
  if (!trial.state || trial.state == TrialState::kQueued) Start(report.trial);
  if (trial.exited) {
    return absl::InvalidArgumentError(
        fmt::format("trial: {} has exited and is {}, so it cannot report", report.trial.value,
                    ToString(*trial.state)));
  }
  if (report.step < 1 || report.step < trial.last_step) {
    return absl::InvalidArgumentError(
        trial.last_step == 0
            ? fmt::format("step: must be at least 1, found {}", report.step)
            : fmt::format("step: must be at least {}, the last step of trial {}, found {}",
                          trial.last_step, report.trial.value, report.step));
  }
  if (report.step == trial.last_step && !SameValue(report.value, trial.last_value)) {
    return absl::InvalidArgumentError(
        fmt::format("value: trial {} reported {} at step {} before, found {}", report.trial.value,
                    trial.last_value, report.step, report.value));
  }
  if (trial.state == TrialState::kRunning && report.step <= trial.resume_step) {
    return ReportAnswer{
        .trial = report.trial, .step = report.step, .reason = {}, .level = {}, .cutoff = {}};
  }
  const bool repeated = report.step == trial.last_step;
  trial.last_step = report.step;
  trial.last_value = report.value;
  if (repeated && trial.told && trial.told->step == report.step) return *trial.told;
  return Judge(report, trial);
}

ReportAnswer TraceReplay::Judge(const RuleReport& report, Trial& trial) {
  ReportAnswer answer{
      .trial = report.trial, .step = report.step, .reason = {}, .level = {}, .cutoff = {}};
  const bool runs = trial.state == TrialState::kRunning;
  if (!runs && trial.state != TrialState::kPaused) {
    answer.decision = Decision::kStop;
    answer.reason = trial.told->reason;
    return answer;
  }
  Verdict verdict = rule_->OnReport(report);
  if (runs) Follow(report.trial, verdict);
  answer.decision = verdict.decision;
  answer.reason = std::move(verdict.reason);
  for (const DecisionRecord& record : verdict.records) {
    if (record.decision == "skipped" || record.decision == "promote") continue;
    answer.level = record.level;
    answer.cutoff = record.cutoff;
    answer.n_before = record.n_before;
    if (answer.reason.empty()) answer.reason = record.reason;
  }
  if (answer.level || answer.decision == Decision::kStop) {
    trial.told = std::make_unique<ReportAnswer>(answer);
  }
  return answer;
}

void TraceReplay::Follow(TrialNumber number, Verdict& verdict) {
  switch (verdict.decision) {
    case Decision::kContinue:
      return;
    case Decision::kStop:
      return SetState(number,
                      verdict.trial_completed ? TrialState::kCompleted : TrialState::kStopped);
    case Decision::kPause:
      break;
  }
  SetState(number, TrialState::kPaused);
  if (const std::optional<Grant> grant = GrantOnArrival(number)) {
    rule_->PromoteOnArrival(*grant, verdict);
    return SetState(number, TrialState::kRunning);
  }
  Trial& trial = trials_[static_cast<size_t>(number.value)];
  trial.resume_step = trial.last_step;
}

std::optional<Grant> TraceReplay::GrantOnArrival(TrialNumber paused) const {
  if (!queued_.empty()) return std::nullopt;
  if (const auto next = rule_->NextPromotion(std::nullopt)) {
    return *next == paused ? std::optional(Grant::kEarned) : std::nullopt;
  }
  return IsDrainDue() && rule_->NextDrain() == paused ? std::optional(Grant::kDrain) : std::nullopt;
}

/// Whether nothing is left from which a trial could complete but those that are paused. Where a
/// promotion is due none is asked for.
bool TraceReplay::IsDrainDue() const {
  return started_ == trials_max_ && running_ == 0 && queued_.empty() && completed_ == 0;
}

TraceAnswer TraceReplay::OnFree() {
  const auto resume = [this](TrialNumber number) {
    Start(number);
    return ResumeAnswer{number, trials_[static_cast<size_t>(number.value)].resume_step};
  };
  if (!queued_.empty()) return resume(*queued_.begin());
  while (const auto next = rule_->NextPromotion(std::nullopt)) {
    if (Promote(*next, Grant::kEarned)) return resume(*next);
  }
  if (const auto next = NextNew()) {
    Start(*next);
    return StartAnswer{*next};
  }
  while (IsDrainDue()) {
    const auto next = rule_->NextDrain();
    if (!next) break;
    if (Promote(*next, Grant::kDrain)) return resume(*next);
    while (const auto earned = rule_->NextPromotion(std::nullopt)) {
      if (Promote(*earned, Grant::kEarned)) return resume(*earned);
    }
  }
  return IdleAnswer{};
}

bool TraceReplay::Promote(TrialNumber number, Grant grant) {
  const Verdict verdict = rule_->Promote(number, grant);
  switch (verdict.decision) {
    case Decision::kContinue:
      return true;
    case Decision::kPause:  // at a further level, to which it had trained on after its pause
      trials_[static_cast<size_t>(number.value)].resume_step = verdict.records.back().step;
      return false;
    case Decision::kStop:
      break;
  }
  SetState(number, verdict.trial_completed ? TrialState::kCompleted : TrialState::kStopped);
  Trial& trial = trials_[static_cast<size_t>(number.value)];
  trial.told->decision = Decision::kStop;
  trial.told->reason = verdict.reason;
  return false;
}

std::optional<TrialNumber> TraceReplay::NextNew() {
  for (; lowest_new_ < trials_max_; ++lowest_new_) {
    const TrialNumber number{lowest_new_};
    if (!(*Find(number))->state) return number;
  }
  return std::nullopt;
}

absl::StatusOr<ExitAnswer> TraceReplay::OnExit(TrialNumber number, TraceExit exit) {
  const absl::StatusOr<Trial*> found = Find(number);
  if (!found.ok()) return found.status();
  Trial& trial = **found;
  if (!trial.state || trial.exited || trial.state == TrialState::kQueued) {
    return absl::InvalidArgumentError(
        fmt::format("trial: {} does not run ({}), so it cannot exit", number.value,
                    trial.state ? ToString(*trial.state) : "not started"));
  }
  trial.exited = true;
  if (trial.state != TrialState::kRunning) return ExitAnswer{number, *trial.state};
  switch (exit) {
    case TraceExit::kCompleted:
      SetState(number, TrialState::kCompleted);
      break;
    case TraceExit::kFailed:
      SetState(number, TrialState::kFailed);
      break;
    case TraceExit::kLost:
      SetState(number, TrialState::kQueued);
      break;
  }
  if (IsFinal(*trial.state)) rule_->OnTrialEnded(number, *trial.state);
  return ExitAnswer{number, *trial.state};
}

}  // namespace rung
