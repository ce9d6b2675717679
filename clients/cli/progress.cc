#include "clients/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "clients/cli/experiment_text.h"
#include "clients/cli/quantity.h"
#include "clients/cli/table.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

constexpr size_t kBarColumns = 30;
constexpr size_t kColumnsUnknown = 100;
constexpr size_t kLinesUnknown = 40;
constexpr double kPlanWeight = 3;

double StepOf(const pb::Trial& trial) { return static_cast<double>(trial.last_step()); }

// Final trials, and those that are paused at a rung: most of these never go on, and one that does
// is active again.
int64_t RestingTrials(const pb::TrialCounts& counts) {
  return FinishedTrials(counts) + counts.paused();
}

std::string TrialsDone(const pb::Experiment& experiment) {
  const int64_t finished = FinishedTrials(experiment.trials());
  if (!experiment.has_planned_trials()) return CountText(finished, "trial") + " done";
  return fmt::format("{}/{} done", finished, CountText(experiment.planned_trials(), "trial"));
}

std::string CountsText(const pb::TrialCounts& counts) {
  std::string text = fmt::format("{} running", counts.running());
  if (counts.queued() > 0) text += fmt::format(", {} queued", counts.queued());
  if (counts.paused() > 0) text += fmt::format(", {} paused", counts.paused());
  if (counts.failed() > 0) text += fmt::format(", {} failed", counts.failed());
  return text;
}

std::string LeftText(const pb::WatchExperimentResponse& update, int64_t now_us) {
  const auto left = SecondsLeft(update, now_us);
  return left.has_value() ? fmt::format(", about {} left", DurationText(*left)) : "";
}

// Why nothing runs: what the first queued trial waits for.
std::string WaitingText(const pb::WatchExperimentResponse& update) {
  if (update.experiment().trials().running() > 0) return "";
  for (const pb::Trial& trial : update.active_trials()) {
    if (trial.state() == pb::TRIAL_STATE_QUEUED && !trial.reason().empty()) {
      return fmt::format("{} is {}", TrialText(trial), trial.reason());
    }
  }
  return "";
}

// Steps that an average trial is expected to take, from the plan; nullopt without one.
std::optional<double> PlannedCost(const pb::Experiment& experiment) {
  const auto plan = nlohmann::json::parse(experiment.plan_json(), nullptr, false);
  if (!plan.is_object() || experiment.planned_trials() <= 0) return std::nullopt;
  const auto expected = plan.find("expected_steps");
  if (expected == plan.end() || !expected->is_number()) return std::nullopt;
  return expected->get<double>() / static_cast<double>(experiment.planned_trials());
}

std::string ShortBest(const pb::Experiment& experiment) {
  if (!experiment.has_best() || !experiment.best().has_best_value()) {
    return experiment.steps_spent() > 0 ? ", " + BestText(experiment) : "";
  }
  return fmt::format(", best {} {} ({}) by {}", experiment.metric(),
                     MetricText(experiment.best().best_value()), ByWhat(experiment.best_by()),
                     TrialText(experiment.best()));
}

Table ActiveTable(const pb::WatchExperimentResponse& update, size_t rows) {
  const pb::Experiment& experiment = update.experiment();
  Table table({{"TRIAL"}, {"STATE"}, {"STEP"}, {"LAST"}, {"BEST"}, {"PARAMETERS"}});
  const auto total = static_cast<size_t>(update.active_trials_size());
  const size_t shown = total <= rows ? total : rows - 1;
  for (size_t i = 0; i < shown; ++i) {
    const pb::Trial& trial = update.active_trials(static_cast<int>(i));
    std::string step = trial.has_last_step() ? std::to_string(trial.last_step()) : "-";
    if (experiment.has_max_step()) step += fmt::format("/{}", experiment.max_step());
    std::string what = ParamsText(trial.params_json());
    if (!trial.reason().empty()) what = fmt::format("({}) {}", trial.reason(), what);
    table.AddRow({TrialText(trial),
                  {Word(trial.state()), ToneOf(trial.state())},
                  step,
                  trial.has_last_value() ? MetricText(trial.last_value()) : "-",
                  trial.has_best_value() ? MetricText(trial.best_value()) : "-",
                  what});
  }
  if (shown < total) table.AddRow({"…", fmt::format("{} more", total - shown)});
  return table;
}

std::string CutLine(const std::string& text, size_t columns, Tone tone, bool colour) {
  return Toned(Cut(Printable(text), columns), tone, colour) + "\n";
}

}  // namespace

int64_t FinishedTrials(const pb::TrialCounts& counts) {
  return counts.completed() + counts.stopped() + counts.failed() + counts.cancelled();
}

double ElapsedSeconds(const pb::Experiment& experiment, int64_t now_us) {
  const int64_t end_us = experiment.has_ended_us() ? experiment.ended_us() : now_us;
  return std::max(0.0, static_cast<double>(end_us - experiment.created_us()) / 1e6);
}

std::optional<double> SecondsLeft(const pb::WatchExperimentResponse& update, int64_t now_us) {
  const pb::Experiment& experiment = update.experiment();
  const auto spent = static_cast<double>(experiment.steps_spent());
  const double elapsed = ElapsedSeconds(experiment, now_us);
  if (experiment.state() != pb::EXPERIMENT_STATE_ACTIVE || !experiment.has_planned_trials() ||
      spent <= 0 || elapsed <= 0) {
    return std::nullopt;
  }
  const auto resting = static_cast<double>(RestingTrials(experiment.trials()));
  double spent_by_active = 0;
  for (const pb::Trial& trial : update.active_trials()) spent_by_active += StepOf(trial);

  // Steps of an average trial. The first to rest are those that were stopped early, so the plan
  // weighs as much as kPlanWeight of them.
  const std::optional<double> planned = PlannedCost(experiment);
  const double weight = planned.has_value() ? kPlanWeight : 0;
  double cost = 0;
  if (resting + weight > 0) {
    const double spent_by_resting = std::max(0.0, spent - spent_by_active);
    cost = (spent_by_resting + weight * planned.value_or(0)) / (resting + weight);
  } else if (experiment.has_max_step()) {
    cost = static_cast<double>(experiment.max_step());
  } else {
    return std::nullopt;
  }

  double steps_left = 0;
  for (const pb::Trial& trial : update.active_trials()) {
    if (StepOf(trial) < cost) {
      steps_left += cost - StepOf(trial);
    } else if (experiment.has_max_step()) {  // past the average: half of the rest, by ignorance
      const auto max_step = static_cast<double>(experiment.max_step());
      steps_left += std::max(0.0, max_step - StepOf(trial)) / 2;
    }
  }
  const double unborn = static_cast<double>(experiment.planned_trials()) - resting -
                        static_cast<double>(update.active_trials_size());
  steps_left += std::max(0.0, unborn) * cost;
  return steps_left * elapsed / spent;
}

std::string ProgressBar(double fraction, size_t columns) {
  const size_t inside = std::max<size_t>(columns, 4) - 2;
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<size_t>(clamped * static_cast<double>(inside));
  std::string bar(inside, ' ');
  std::fill_n(bar.begin(), filled, '=');
  if (filled > 0 && filled < inside) bar[filled - 1] = '>';
  return fmt::format("[{}]", bar);
}

std::string ProgressScreen(const pb::WatchExperimentResponse& update, int64_t now_us,
                           const Terminal& terminal) {
  const pb::Experiment& experiment = update.experiment();
  const size_t columns = terminal.columns > 1 ? terminal.columns - 1 : kColumnsUnknown;
  const size_t lines = terminal.lines > 1 ? terminal.lines - 1 : kLinesUnknown;
  const bool colour = terminal.colour;

  std::string screen =
      CutLine(fmt::format("{}  experiment {}  {}  {}  {}", experiment.name(), experiment.id(),
                          StateText(experiment), DurationText(ElapsedSeconds(experiment, now_us)),
                          CountText(experiment.steps_spent(), "step")),
              columns, ToneOf(experiment.state()), colour);
  std::string bar;
  if (experiment.planned_trials() > 0) {
    bar = ProgressBar(static_cast<double>(RestingTrials(experiment.trials())) /
                          static_cast<double>(experiment.planned_trials()),
                      kBarColumns) +
          "  ";
  }
  screen += CutLine(bar + TrialsDone(experiment) + ", " + CountsText(experiment.trials()) +
                        LeftText(update, now_us),
                    columns, Tone::kPlain, colour);
  screen += CutLine(BestText(experiment), columns, Tone::kStrong, colour);
  size_t head = 3;
  const std::string waiting = WaitingText(update);
  if (!waiting.empty() && lines > head) {
    screen += CutLine(waiting, columns, Tone::kWaiting, colour);
    ++head;
  }

  const auto rungs = static_cast<size_t>(experiment.rungs_size());
  const size_t for_rungs = rungs > 0 && lines > rungs + 10 ? rungs + 2 : 0;
  if (update.active_trials_size() > 0 && lines > head + 3 + for_rungs) {
    const Table table = ActiveTable(update, lines - head - 2 - for_rungs);
    screen += '\n';
    screen += table.Text({.width = columns, .colour = colour});
  }
  if (for_rungs > 0) {
    screen += '\n';
    screen += RungsTable(experiment).Text({.width = columns, .colour = colour});
  }
  return screen;
}

std::string ProgressLine(const pb::WatchExperimentResponse& update, int64_t now_us) {
  const pb::Experiment& experiment = update.experiment();
  const std::string waiting = WaitingText(update);
  return Printable(fmt::format(
      "{} ({}): {}, {}, {}, {} in {}{}{}", experiment.name(), experiment.id(),
      StateText(experiment), TrialsDone(experiment), CountsText(experiment.trials()),
      CountText(experiment.steps_spent(), "step"), DurationText(ElapsedSeconds(experiment, now_us)),
      ShortBest(experiment), LeftText(update, now_us) + (waiting.empty() ? "" : "; " + waiting)));
}

}  // namespace rung::cli
