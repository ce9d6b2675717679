#include "clients/cli/experiment_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "clients/cli/progress.h"
#include "clients/cli/quantity.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

std::string WithReason(const std::string& word, const std::string& reason) {
  return reason.empty() ? word : fmt::format("{} ({})", word, reason);
}

std::string Optional(bool has, int64_t value) { return has ? CountText(value) : "-"; }
std::string OptionalMetric(bool has, double value) { return has ? MetricText(value) : "-"; }

// "27 of 27: 3 completed, 24 stopped"
std::string TrialCountsText(const pb::Experiment& experiment) {
  const pb::TrialCounts& counts = experiment.trials();
  const std::pair<int64_t, const char*> parts[] = {
      {counts.running(), "running"},     {counts.queued(), "queued"},   {counts.paused(), "paused"},
      {counts.completed(), "completed"}, {counts.stopped(), "stopped"}, {counts.failed(), "failed"},
      {counts.cancelled(), "cancelled"}};
  int64_t total = 0;
  std::string text;
  for (const auto& [count, word] : parts) {
    total += count;
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", count, word);
  }
  std::string head = std::to_string(total);
  if (experiment.has_planned_trials()) head += fmt::format(" of {}", experiment.planned_trials());
  return head + text;
}

std::string NoBestText(const pb::Experiment& experiment) {
  return fmt::format("no {} reported{}", experiment.metric(),
                     IsFinal(experiment.state()) ? "" : " yet");
}

class Facts {
 public:
  void Add(const std::string& name, Table::Cell value) {
    table_.AddRow({{name, Tone::kDim}, std::move(value)});
  }
  void AddParams(const std::string& params_json) {
    const auto params = nlohmann::ordered_json::parse(params_json, nullptr, false);
    if (!params.is_object()) return;
    for (const auto& [name, value] : params.items()) {
      Add(fmt::format("  {}", name), value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  std::string Text(const Terminal& terminal) const {
    return table_.Text({.width = terminal.columns, .colour = terminal.colour, .heading = false});
  }

 private:
  Table table_{{{""}, {""}}};
};

std::string LastLines(const std::string& text, size_t lines) {
  size_t start = text.size();
  if (start > 0 && text.back() == '\n') --start;
  for (size_t i = 0; i < lines && start > 0; ++i) {
    const size_t newline = text.rfind('\n', start - 1);
    if (newline == std::string::npos) return text;
    start = newline;
  }
  return start == 0 ? text : text.substr(start + 1);
}

constexpr size_t kTailLines = 20;
constexpr size_t kStateColumnsMax = 40;  // what a queued trial waits for can be a long sentence

std::string AttemptsText(const pb::Trial& trial, int64_t now_us, const Terminal& terminal) {
  Table table({{"ATTEMPT"}, {"STATE"}, {"EXIT"}, {"WORKER"}, {"FROM STEP"}, {"TOOK"}, {"MESSAGE"}});
  std::string tails;
  for (const pb::Attempt& attempt : trial.attempts()) {
    std::string exit = "-";
    if (attempt.exit_cause() != pb::EXIT_CAUSE_UNSPECIFIED) exit = Word(attempt.exit_cause());
    if (attempt.has_exit_code()) exit += fmt::format(", status {}", attempt.exit_code());
    const int64_t end_us = attempt.has_ended_us() ? attempt.ended_us() : now_us;
    table.AddRow({fmt::format("{}.{}", TrialText(trial), attempt.attempt()), Word(attempt.state()),
                  exit, attempt.workers().empty() ? attempt.owner() : attempt.workers(),
                  std::to_string(attempt.resume_step()),
                  DurationText(static_cast<double>(end_us - attempt.started_us()) / 1e6),
                  attempt.message()});
    for (const pb::LogTail& tail : attempt.log_tails()) {
      if (tail.text().empty()) continue;
      tails += fmt::format("\nlast stderr of {}.{}, rank {}:\n{}", TrialText(trial),
                           attempt.attempt(), tail.rank(), LastLines(tail.text(), kTailLines));
      if (!tails.ends_with('\n')) tails += '\n';
    }
  }
  if (table.empty()) return "";
  return fmt::format("\n{}{}", table.Text({.width = terminal.columns, .colour = terminal.colour}),
                     tails);
}

}  // namespace

Tone ToneOf(pb::ExperimentState state) {
  switch (state) {
    case pb::EXPERIMENT_STATE_ACTIVE:
      return Tone::kActive;
    case pb::EXPERIMENT_STATE_PAUSED:
    case pb::EXPERIMENT_STATE_STOPPING:
      return Tone::kWaiting;
    case pb::EXPERIMENT_STATE_COMPLETED:
      return Tone::kGood;
    case pb::EXPERIMENT_STATE_FAILED:
      return Tone::kBad;
    default:
      return Tone::kPlain;
  }
}

Tone ToneOf(pb::TrialState state) {
  switch (state) {
    case pb::TRIAL_STATE_RUNNING:
      return Tone::kActive;
    case pb::TRIAL_STATE_QUEUED:
    case pb::TRIAL_STATE_PAUSED:
      return Tone::kWaiting;
    case pb::TRIAL_STATE_COMPLETED:
      return Tone::kGood;
    case pb::TRIAL_STATE_FAILED:
      return Tone::kBad;
    default:
      return Tone::kPlain;
  }
}

std::string StateText(const pb::Experiment& experiment) {
  return WithReason(Word(experiment.state()), experiment.reason());
}
std::string StateText(const pb::Trial& trial) {
  return WithReason(Word(trial.state()), trial.reason());
}

std::string BestText(const pb::Experiment& experiment) {
  if (!experiment.has_best() || !experiment.best().has_best_value()) {
    return NoBestText(experiment);
  }
  const pb::Trial& best = experiment.best();
  return fmt::format("best {} {} ({}) by trial {} at step {}: {}", experiment.metric(),
                     MetricText(best.best_value()), ByWhat(experiment.best_by()), TrialText(best),
                     best.best_step(), ParamsText(best.params_json()));
}

bool CountsGpus(const pb::Experiment& experiment) { return experiment.gpu_seconds() > 0; }

double SlotHours(const pb::Experiment& experiment) {
  return (CountsGpus(experiment) ? experiment.gpu_seconds() : experiment.cpu_seconds()) / 3600;
}

std::string SlotHoursText(const pb::Experiment& experiment) {
  return fmt::format("{} {} slot-hours", MetricText(SlotHours(experiment)),
                     CountsGpus(experiment) ? "GPU" : "CPU");
}

std::string ExperimentText(const pb::Experiment& experiment, int64_t now_us,
                           const Terminal& terminal) {
  Facts facts;
  facts.Add("experiment", fmt::format("{}  {}", experiment.id(), experiment.name()));
  facts.Add("state", {StateText(experiment), ToneOf(experiment.state())});
  facts.Add("objective", fmt::format("{}, {}", experiment.metric(), Word(experiment.goal())));
  facts.Add("created",
            TimeText(experiment.created_us()) +
                (experiment.owner().empty() ? "" : fmt::format(" by {}", experiment.owner())));
  facts.Add("wall time", DurationText(ElapsedSeconds(experiment, now_us)));
  facts.Add("trials", TrialCountsText(experiment));
  facts.Add("steps spent", CountText(experiment.steps_spent()));
  facts.Add("used", SlotHoursText(experiment));
  if (experiment.has_best() && experiment.best().has_best_value()) {
    const pb::Trial& best = experiment.best();
    facts.Add("best", {fmt::format("{} {} ({}) by trial {} at step {}", experiment.metric(),
                                   MetricText(best.best_value()), ByWhat(experiment.best_by()),
                                   TrialText(best), best.best_step()),
                       Tone::kStrong});
    facts.AddParams(best.params_json());
  } else {
    facts.Add("best", NoBestText(experiment));
  }
  std::string text = facts.Text(terminal);
  if (experiment.rungs_size() > 0) {
    text += '\n';
    text += RungsTable(experiment).Text({.width = terminal.columns, .colour = terminal.colour});
  }
  return text;
}

std::string TrialText(const pb::Trial& trial, const pb::Experiment& experiment, int64_t now_us,
                      const Terminal& terminal) {
  Facts facts;
  facts.Add("trial", fmt::format("{}  of {}", TrialText(trial), experiment.name()));
  facts.Add("state", {StateText(trial), ToneOf(trial.state())});
  facts.Add("parameters", "");
  facts.AddParams(trial.params_json());
  std::string step = Optional(trial.has_last_step(), trial.last_step());
  if (experiment.has_max_step()) step += fmt::format(" of {}", CountText(experiment.max_step()));
  facts.Add("step", step);
  if (trial.has_last_value()) {
    facts.Add(fmt::format("last {}", experiment.metric()), MetricText(trial.last_value()));
  }
  if (trial.has_best_value()) {
    facts.Add(fmt::format("best {}", experiment.metric()),
              fmt::format("{} ({}) at step {}", MetricText(trial.best_value()),
                          ByWhat(experiment.best_by()), trial.best_step()));
  }
  if (trial.bracket() > 0) facts.Add("bracket", std::to_string(trial.bracket()));
  facts.Add("failures, losses", fmt::format("{}, {}", trial.failures(), trial.losses()));
  facts.Add("created", TimeText(trial.created_us()));
  if (trial.has_ended_us()) facts.Add("ended", TimeText(trial.ended_us()));
  return facts.Text(terminal) + AttemptsText(trial, now_us, terminal);
}

Table RungsTable(const pb::Experiment& experiment) {
  std::vector<pb::Rung> rungs(experiment.rungs().begin(), experiment.rungs().end());
  std::sort(rungs.begin(), rungs.end(), [](const pb::Rung& a, const pb::Rung& b) {
    return std::pair(a.bracket(), a.level()) < std::pair(b.bracket(), b.level());
  });
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"BRACKET", kRight},
               {"LEVEL", kRight},
               {"ENTRIES", kRight},
               {"WENT ON", kRight},
               {"STOPPED", kRight},
               {"PAUSED", kRight},
               {"SKIPPED", kRight},
               {"BEST"}});
  for (const pb::Rung& rung : rungs) {
    std::string went_on = CountText(rung.continued());
    if (rung.over_promoted() > 0) went_on += fmt::format(" ({} over)", rung.over_promoted());
    table.AddRow({std::to_string(rung.bracket()), CountText(rung.level()),
                  CountText(rung.entries()), went_on, CountText(rung.stopped()),
                  CountText(rung.paused()), CountText(rung.skipped()),
                  OptionalMetric(rung.has_best_value(), rung.best_value())});
  }
  return table;
}

Table ExperimentsTable(const std::vector<pb::Experiment>& experiments, int64_t now_us) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"ID", kRight}, {"NAME"}, {"STATE"}, {"TRIALS"}, {"BEST"}, {"TIME"}, {"CREATED"}});
  for (const pb::Experiment& experiment : experiments) {
    std::string trials = std::to_string(FinishedTrials(experiment.trials()));
    if (experiment.has_planned_trials()) trials += fmt::format("/{}", experiment.planned_trials());
    std::string best = "-";
    if (experiment.has_best() && experiment.best().has_best_value()) {
      best = fmt::format("{} {} ({})", experiment.metric(),
                         MetricText(experiment.best().best_value()), Word(experiment.best_by()));
    }
    table.AddRow({std::to_string(experiment.id()),
                  experiment.name(),
                  {StateText(experiment), ToneOf(experiment.state())},
                  trials,
                  best,
                  DurationText(ElapsedSeconds(experiment, now_us)),
                  TimeText(experiment.created_us())});
  }
  return table;
}

Table TrialsTable(const std::vector<pb::Trial>& trials, const pb::Experiment& experiment) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"TRIAL"},
               {"STATE"},
               {"STEPS", kRight},
               {fmt::format("{} ({})", experiment.metric(), Word(experiment.best_by()))},
               {"AT STEP", kRight},
               {"LAST"},
               {"PARAMETERS"}});
  for (const pb::Trial& trial : trials) {
    table.AddRow({TrialText(trial),
                  {Cut(StateText(trial), kStateColumnsMax), ToneOf(trial.state())},
                  Optional(trial.has_last_step(), trial.last_step()),
                  OptionalMetric(trial.has_best_value(), trial.best_value()),
                  Optional(trial.has_best_step(), trial.best_step()),
                  OptionalMetric(trial.has_last_value(), trial.last_value()),
                  ParamsText(trial.params_json())});
  }
  return table;
}

}  // namespace rung::cli
