#include <absl/status/status.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/metric_name.h"
#include "scheduler/scheduler_state.h"

/// Reports, from the values of ranks to rows, decisions and answers (EARLY_STOPPING.md §2).
namespace rung {
namespace {

absl::Status CheckForm(const AttemptRow& attempt, int32_t rank, Steps step,
                       const std::vector<MetricValue>& metrics) {
  if (rank < 0 || rank >= attempt.processes) {
    return absl::InvalidArgumentError(
        fmt::format("rank: attempt {} has the ranks 0 to {}, found {}", ToString(attempt.id),
                    attempt.processes - 1, rank));
  }
  if (step < 1) {
    return absl::InvalidArgumentError(
        fmt::format("step: counts finished units of training, from 1; found {}", step));
  }
  if (metrics.empty() || metrics.size() > kMetricsPerReportMax) {
    return absl::InvalidArgumentError(fmt::format("metrics: a report has 1 to {}, found {}",
                                                  kMetricsPerReportMax, metrics.size()));
  }
  std::set<std::string_view> names;
  for (const MetricValue& metric : metrics) {
    RUNG_RETURN_IF_ERROR(CheckMetricName(metric.name));
    if (metric.count < 1) {
      return absl::InvalidArgumentError(
          fmt::format("count: must be at least 1, found {}", metric.count));
    }
    if (!names.insert(metric.name).second) {
      return absl::InvalidArgumentError(
          fmt::format("metrics: '{}' is there twice in one report", metric.name));
    }
  }
  return absl::OkStatus();
}

absl::Status OtherValue(const AttemptRow& attempt, Steps step, const std::string& name,
                        double before, double now) {
  return absl::InvalidArgumentError(
      fmt::format("metric '{}' of attempt {} at step {} was reported as {} before and now as {}: "
                  "a value is reported once",
                  name, ToString(attempt.id), step, before, now));
}

absl::Status LowerStep(const AttemptRow& attempt, Steps step, Steps last) {
  return absl::InvalidArgumentError(
      fmt::format("step {} of attempt {} is below {}, its last accepted step: steps never decrease",
                  step, ToString(attempt.id), last));
}

}  // namespace

std::string RefusalText(const absl::Status& status) {
  return fmt::format("{}: {}", absl::StatusCodeToString(status.code()),
                     std::string(status.message()));
}

void Scheduler::State::On(const WorkerReport& e) {
  const WorkerRecord* worker = Heard(e.session);
  if (worker == nullptr) return;
  const Target target = FindAttempt(e.attempt);
  if (!RunsOn(target, *worker)) return AnswerLate(e, *worker);
  ExperimentRecord& experiment = *target.experiment;
  TrialRecord& trial = *target.trial;
  AttemptRecord& attempt = *trial.attempt;
  MarkRunning(experiment, trial);

  const absl::StatusOr<std::vector<MetricValue>> fresh =
      CheckReport(experiment, trial, e.rank, e.step, e.metrics);
  if (!fresh.ok()) {
    AnswerReport answer;
    answer.attempt = e.attempt;
    answer.step = e.step;
    answer.report_ids = {e.report_id};
    answer.error = RefusalText(fresh.status());
    return Send(worker->row.name, std::move(answer));
  }

  const bool counts = attempt.open.Counts(e.rank);
  const bool stopping = attempt.row.state == AttemptState::kStopping;
  std::vector<std::string> names;
  for (const MetricValue& metric : e.metrics) names.push_back(metric.name);
  const bool is_open = std::ranges::any_of(
      names, [&](const std::string& name) { return attempt.open.IsOpen(e.step, name); });
  // Values that do not count wait for those that do, unless rank 0 has passed their step.
  const bool done = counts ? fresh->empty() && !is_open
                           : stopping || attempt.last_stored_step().value_or(0) >= e.step;
  if (done || e.step <= attempt.row.resume_step) {
    return SendAnswer(trial, e.step, {e.report_id},
                      ToldAt(experiment, trial, e.step, /*repeated=*/counts));
  }
  attempt.open.Add(e.rank, e.step, *fresh, names, e.report_id);
  DrainSteps(experiment, trial);
  while (static_cast<int64_t>(attempt.open.open_steps()) > config_.open_steps_per_attempt_max) {
    attempt.open.CloseOldest();
    DrainSteps(experiment, trial);
  }
}

void Scheduler::State::On(const RankExited& e) {
  const WorkerRecord* worker = Heard(e.session);
  const Target target = FindAttempt(e.attempt);
  if (worker == nullptr || !RunsOn(target, *worker)) return;
  if (e.rank < 0 || e.rank >= target.trial->attempt->row.processes) return;
  target.trial->attempt->open.RankExited(e.rank);
  DrainSteps(*target.experiment, *target.trial);
}

/// A report of an attempt that is over, or that another worker runs: its processes must end, and
/// nothing of it counts.
void Scheduler::State::AnswerLate(const WorkerReport& e, const WorkerRecord& worker) {
  const std::string reason = fmt::format("attempt {} is no longer current", ToString(e.attempt));
  AnswerReport answer;
  answer.attempt = e.attempt;
  answer.step = e.step;
  answer.report_ids = {e.report_id};
  answer.decision = Decision::kStop;
  answer.reason = reason;
  Send(worker.row.name, std::move(answer));
  Send(worker.row.name, StopAttempt{.attempt = e.attempt, .at_once = true, .reason = reason});
  ExperimentRecord* experiment = FindExperiment(e.attempt.trial.experiment);
  TrialRecord* trial = experiment == nullptr ? nullptr : experiment->Find(e.attempt.trial.number);
  if (trial == nullptr || !trial->attempt || trial->attempt->late_report_noted) return;
  // Once for the newest attempt, or a cut-off worker could fill the table.
  trial->attempt->late_report_noted = true;
  LogEvent(e.attempt, "late_report",
           fmt::format("attempt {} reported step {} on worker {} when it was over: not stored",
                       ToString(e.attempt), e.step, worker.row.name));
}

/// The values that are neither stored nor open, of a report that may be taken.
absl::StatusOr<std::vector<MetricValue>> Scheduler::State::CheckReport(
    const ExperimentRecord& experiment, const TrialRecord& trial, int32_t rank, Steps step,
    const std::vector<MetricValue>& metrics) {
  const AttemptRecord& attempt = *trial.attempt;
  RUNG_RETURN_IF_ERROR(CheckForm(attempt.row, rank, step, metrics));
  std::vector<MetricValue> fresh;
  if (!attempt.open.Counts(rank) || step <= attempt.row.resume_step) return fresh;
  int64_t rows = trial.row.metric_rows + attempt.open.open_values();
  const std::optional<Steps> last =
      std::max(attempt.last_stored_step(), attempt.open.LastStepOf(rank));
  for (const MetricValue& metric : metrics) {
    bool known = false;
    RUNG_RETURN_IF_ERROR(CheckRepeat(experiment, attempt, rank, step, metric, known));
    if (known) continue;
    if (last && step < *last) return LowerStep(attempt.row, step, *last);
    fresh.push_back(metric);
    if (!attempt.open.IsOpen(step, metric.name)) ++rows;
  }
  if (rows > experiment.spec.limits.metrics_per_trial && !fresh.empty()) {
    return absl::ResourceExhaustedError(fmt::format(
        "limits.metrics_per_trial: trial {} has {} of at most {} metric values; report fewer, or "
        "submit the experiment with a higher limit",
        ToString(trial.row.id), trial.row.metric_rows, experiment.spec.limits.metrics_per_trial));
  }
  return fresh;
}

/// Sets `known` when (step, name) of this rank is stored or open already. Errors: INVALID_ARGUMENT
/// when it was another value.
absl::Status Scheduler::State::CheckRepeat(const ExperimentRecord& experiment,
                                           const AttemptRecord& attempt, int32_t rank, Steps step,
                                           const MetricValue& metric, bool& known) const {
  if (const MetricValue* open = attempt.open.Find(rank, step, metric.name)) {
    known = true;
    if (SameValue(open->value, metric.value) && open->count == metric.count) {
      return absl::OkStatus();
    }
    return OtherValue(attempt.row, step, metric.name, open->value, metric.value);
  }
  const auto stored = attempt.stored.find(step);
  if (stored == attempt.stored.end()) return absl::OkStatus();
  const auto value = stored->second.find(metric.name);
  if (value == stored->second.end()) return absl::OkStatus();
  known = true;
  // What one rank added to a reduced value is not kept, so a repeat of it cannot be compared.
  const Reduce reduce = experiment.trial_template().reduce;
  if (reduce != Reduce::kRank0 && attempt.row.processes > 1) return absl::OkStatus();
  if (SameValue(value->second, ReduceRanks(reduce, {{rank, metric}}))) return absl::OkStatus();
  return OtherValue(attempt.row, step, metric.name, value->second, metric.value);
}

void Scheduler::State::DrainSteps(ExperimentRecord& experiment, TrialRecord& trial) {
  while (std::optional<OpenSteps::Batch> batch = trial.attempt->open.Take()) {
    const bool was_stopping = trial.attempt->row.state == AttemptState::kStopping;
    if (!batch->values.empty()) StoreStep(experiment, trial, batch->step, batch->values);
    const bool stops = !was_stopping && trial.attempt->row.state == AttemptState::kStopping;
    // A stop is said even when the ranks' reports still wait for further names.
    if (batch->report_ids.empty() && !stops) continue;
    SendAnswer(trial, batch->step, std::move(batch->report_ids),
               ToldAt(experiment, trial, batch->step, /*repeated=*/false));
  }
}

void Scheduler::State::StoreStep(ExperimentRecord& experiment, TrialRecord& trial, Steps step,
                                 const std::vector<ReducedValue>& values) {
  AttemptRecord& attempt = *trial.attempt;
  if (attempt.stored.empty() && attempt.row.id.attempt > 0) Supersede(experiment, trial);
  std::optional<double> objective;
  for (const ReducedValue& value : values) {
    attempt.stored[step][value.name] = value.value;
    if (value.name == experiment.spec.metric) objective = value.value;
    Log(MetricRow{attempt.row.id, step, value.name, value.value, value.ranks, now_.wall});
  }
  while (static_cast<int64_t>(attempt.stored.size()) > config_.repeats_kept_steps) {
    attempt.stored.erase(attempt.stored.begin());
  }
  trial.row.metric_rows += static_cast<int64_t>(values.size());
  trial.row.last_step = step;
  if (!trial.row.furthest_step || step > *trial.row.furthest_step) {
    trial.row.furthest_step = step;
    trial.row.losses = 0;
  }
  experiment.any_report = true;
  // After max_t a final evaluation at the same step counts for best, later steps do not.
  const bool past_end = trial.row.state == TrialState::kCompleted && attempt.finished_at &&
                        step > *attempt.finished_at;
  if (objective && !past_end) {
    trial.AddObjective(step, *objective, experiment.spec, experiment.rule->MaxStep());
  }
  Touch(trial);
  if (attempt.row.state != AttemptState::kStopping) {
    Judge(experiment, trial, step, objective);
  } else if (trial.row.state == TrialState::kPaused && objective) {
    // Decides nothing now: the rule keeps what it needs at the trial's promotion.
    experiment.rule->OnReport({trial.row.id.number, step, *objective});
  } else if (objective) {
    experiment.rule->Observe({trial.row.id.number, step, *objective});
  }
}

/// The first stored report of a further attempt: later steps of earlier ones no longer count.
void Scheduler::State::Supersede(ExperimentRecord& experiment, TrialRecord& trial) {
  const Steps resume_step = trial.attempt->row.resume_step;
  Log(SupersedeMetrics{trial.attempt->row.id, resume_step});
  trial.SupersedeAfter(resume_step, experiment.spec, experiment.rule->MaxStep());
}

void Scheduler::State::Judge(ExperimentRecord& experiment, TrialRecord& trial, Steps step,
                             std::optional<double> objective) {
  Verdict verdict;
  const std::optional<Steps> max_step = experiment.rule->MaxStep();
  if (objective) {
    verdict = experiment.rule->OnReport({trial.row.id.number, step, *objective});
  } else if (max_step && step > *max_step) {
    verdict = {
        .decision = Decision::kStop, .reason = "max_t", .records = {}, .trial_completed = true};
  }
  if (verdict.decision == Decision::kPause) {
    // Who would get what the trial frees is asked of the state after the pause.
    experiment.SetTrialState(trial, TrialState::kPaused, "");
    if (const std::optional<Grant> grant = GrantOnArrival(experiment, trial)) {
      experiment.rule->PromoteOnArrival(*grant, verdict);
      experiment.SetTrialState(trial, TrialState::kRunning, "");
    }
    assign_work_ = true;  // its rung has one entry more, so another trial may have earned the next
  }
  LogDecisions(experiment, trial, verdict.records);
  AttemptRecord& attempt = *trial.attempt;
  if (verdict.decision == Decision::kContinue) {
    if (!verdict.reason.empty()) attempt.went_on = {step, verdict.reason};
    return;
  }
  attempt.stopped_at = step;
  attempt.told = verdict.decision;
  if (verdict.trial_completed) attempt.finished_at = step;
  attempt.open.StopWaiting();
  experiment.SetAttemptState(trial, AttemptState::kStopping);
  TouchAttempt(trial);
  if (verdict.decision == Decision::kPause) return Pause(trial, verdict.records.back().level);
  EndTrial(experiment, trial,
           verdict.trial_completed ? TrialState::kCompleted : TrialState::kStopped, verdict.reason);
}

void Scheduler::State::LogDecisions(ExperimentRecord& experiment, const TrialRecord& trial,
                                    const std::vector<DecisionRecord>& records) {
  for (const DecisionRecord& r : records) {
    Log(DecisionRow{experiment.row.id, ++experiment.last_seq, trial.attempt->row.id.attempt,
                    r.bracket, r.level, r.trial, r.step, r.value, r.n_before, r.entries, r.rank,
                    r.cutoff, r.rule, r.decision, r.reason, now_.wall});
  }
}

/// What the report of `step` is answered: after a stop its reason again, but a repeat of an earlier
/// step as the first time.
Scheduler::State::Told Scheduler::State::ToldAt(const ExperimentRecord& experiment,
                                                const TrialRecord& trial, Steps step,
                                                bool repeated) const {
  const AttemptRecord& attempt = *trial.attempt;
  const bool stopping = attempt.row.state == AttemptState::kStopping;
  const bool before = attempt.stopped_at ? step < *attempt.stopped_at : repeated;
  if (!stopping || before) {
    const bool here = attempt.went_on && attempt.went_on->first == step;
    return {.reason = here ? attempt.went_on->second : ""};
  }
  const StopAttempt stop = StopCommand(experiment, trial);
  const bool cancelled = trial.row.state == TrialState::kCancelled;
  return {cancelled ? Decision::kStop : attempt.told, stop.reason, stop.grace};
}

void Scheduler::State::SendAnswer(const TrialRecord& trial, Steps step,
                                  std::vector<uint64_t> report_ids, const Told& told) {
  AnswerReport answer;
  answer.attempt = trial.attempt->row.id;
  answer.step = step;
  answer.report_ids = std::move(report_ids);
  answer.decision = told.decision;
  answer.reason = told.reason;
  answer.grace = told.grace;
  Send(trial.attempt->row.workers, std::move(answer));
}

}  // namespace rung
