#include "clients/cli/hindsight_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "clients/cli/decision_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/quantity.h"
#include "clients/cli/table.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

std::string FateWord(Fate fate) {
  switch (fate) {
    case Fate::kStopped:
      return "stopped";
    case Fate::kNotPromoted:
      return "not_promoted";
    case Fate::kCompleted:
      return "completed";
    case Fate::kEnded:
      return "ended";
    case Fate::kUnknown:
      return "curve_too_short";
  }
  return {};
}

std::string FateText(Fate fate) {
  switch (fate) {
    case Fate::kStopped:
      return "stopped";
    case Fate::kNotPromoted:
      return "not promoted";
    case Fate::kCompleted:
      return "completed";
    case Fate::kEnded:
      return "as recorded";
    case Fate::kUnknown:
      return "not known";
  }
  return {};
}

Tone ToneOf(Fate fate) {
  switch (fate) {
    case Fate::kStopped:
    case Fate::kNotPromoted:
      return Tone::kWaiting;
    case Fate::kCompleted:
      return Tone::kGood;
    case Fate::kEnded:
      return Tone::kPlain;
    case Fate::kUnknown:
      return Tone::kDim;
  }
  return Tone::kPlain;
}

std::string DecisionSentence(const DecisionRecord& record, pb::Goal goal) {
  pb::DecisionRow row;
  row.set_bracket(record.bracket);
  row.set_level(record.level);
  row.set_trial_number(record.trial.value);
  row.set_step(record.step);
  row.set_value(record.value);
  row.set_n_before(record.n_before);
  row.set_entries(record.entries);
  if (record.rank) row.set_rank(*record.rank);
  if (record.cutoff) row.set_cutoff(*record.cutoff);
  row.set_rule(record.rule);
  row.set_decision(record.decision);
  row.set_reason(record.reason);
  return DecisionText(row, goal);
}

const TrialHindsight* Find(const Hindsight& hindsight, int32_t number) {
  const auto found = std::ranges::find(hindsight.trials, number,
                                       [](const TrialHindsight& t) { return t.trial.value; });
  return found == hindsight.trials.end() ? nullptr : &*found;
}

/// What became of the trial that was best in the experiment.
struct Winner {
  pb::Trial recorded;
  const TrialHindsight* seen = nullptr;
  bool survives = false;  ///< it would have reached the step of its best value
};

std::optional<Winner> WinnerOf(const Hindsight& hindsight, const StoredExperiment& stored) {
  if (!stored.experiment.has_best() || !stored.experiment.best().has_best_value()) return {};
  Winner winner{.recorded = stored.experiment.best()};
  winner.seen = Find(hindsight, winner.recorded.trial_number());
  if (winner.seen == nullptr) return {};
  winner.survives = winner.seen->steps >= winner.recorded.best_step();
  return winner;
}

std::map<Fate, int64_t> CountFates(const Hindsight& hindsight) {
  std::map<Fate, int64_t> counts;
  for (const TrialHindsight& trial : hindsight.trials) ++counts[trial.fate];
  return counts;
}

std::string WinnerText(const Winner& winner, const StoredExperiment& stored) {
  const pb::Trial& best = winner.recorded;
  const std::string what = fmt::format("trial {} ({} {}, {}, at step {})", TrialText(best),
                                       stored.experiment.metric(), MetricText(best.best_value()),
                                       ByWhat(stored.experiment.best_by()), best.best_step());
  if (winner.survives) return what + " survives";
  return fmt::format("{} does not survive: it ends at step {}", what,
                     CountText(winner.seen->steps));
}

std::string BestText(const Hindsight& hindsight, const StoredExperiment& stored) {
  if (!hindsight.best) return "no trial has a value";
  const TrialHindsight& best = *Find(hindsight, hindsight.best->value);
  return fmt::format("trial {} ({} {}, {}, at step {})",
                     TrialText(stored.experiment.id(), best.trial.value),
                     stored.experiment.metric(), MetricText(*best.best_value),
                     ByWhat(stored.experiment.best_by()), *best.best_step);
}

Table TrialsTable(const Hindsight& hindsight, const StoredExperiment& stored) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"TRIAL", kRight},
               {"RECORDED"},
               {"STEPS", kRight},
               {"WOULD BE"},
               {"STEPS", kRight},
               {"LAST DECISION"}});
  for (const TrialHindsight& trial : hindsight.trials) {
    const auto recorded = stored.trials.find(trial.trial.value);
    table.AddRow({TrialText(stored.experiment.id(), trial.trial.value),
                  recorded == stored.trials.end() ? "unknown" : Word(recorded->second.state()),
                  CountText(trial.recorded_steps),
                  {FateText(trial.fate), ToneOf(trial.fate)},
                  CountText(trial.steps),
                  trial.last_decision
                      ? DecisionSentence(*trial.last_decision, stored.experiment.goal())
                      : "-"});
  }
  return table;
}

}  // namespace

std::string HindsightText(const Hindsight& hindsight, const StoredExperiment& stored,
                          const std::string& scheduler, const Terminal& terminal) {
  const int64_t saved = hindsight.recorded_steps - hindsight.steps;
  const double share =
      hindsight.recorded_steps == 0
          ? 0
          : static_cast<double>(saved) / static_cast<double>(hindsight.recorded_steps);
  std::string counts;
  for (const auto& [fate, count] : CountFates(hindsight)) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, FateText(fate));
  }
  Table facts({{""}, {""}});
  facts.AddRow({{"experiment", Tone::kDim},
                fmt::format("{}  {}, its recorded curves", stored.experiment.id(),
                            stored.experiment.name())});
  facts.AddRow({{"scheduler", Tone::kDim}, scheduler});
  facts.AddRow({{"trials", Tone::kDim}, fmt::format("{}: {}", hindsight.trials.size(), counts)});
  facts.AddRow(
      {{"steps", Tone::kDim},
       fmt::format("{} of {} recorded, {} saved ({})", CountText(hindsight.steps),
                   CountText(hindsight.recorded_steps), CountText(saved), PercentText(share))});
  if (const auto winner = WinnerOf(hindsight, stored)) {
    facts.AddRow({{"winner", Tone::kDim}, WinnerText(*winner, stored)});
  }
  facts.AddRow({{"would win", Tone::kDim}, {BestText(hindsight, stored), Tone::kStrong}});
  std::string text =
      facts.Text({.width = terminal.columns, .colour = terminal.colour, .heading = false});
  const int64_t unknown = CountFates(hindsight)[Fate::kUnknown];
  if (unknown > 0) {
    text += fmt::format(
        "{} {} before this scheduler would have ended {}: what {} would have come to and "
        "cost is not known, and later rungs lack {}.\n",
        unknown, unknown == 1 ? "curve ends" : "curves end", unknown == 1 ? "it" : "them",
        unknown == 1 ? "it" : "they", unknown == 1 ? "it" : "them");
  }
  text += '\n';
  return text + TrialsTable(hindsight, stored)
                    .Text({.width = terminal.columns, .colour = terminal.colour});
}

nlohmann::ordered_json HindsightJson(const Hindsight& hindsight, const StoredExperiment& stored,
                                     const std::string& scheduler) {
  const auto value_json = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json trials = Json::array();
  for (const TrialHindsight& trial : hindsight.trials) {
    const auto recorded = stored.trials.find(trial.trial.value);
    Json json{
        {"trial_number", trial.trial.value},
        {"recorded_state",
         recorded == stored.trials.end() ? Json(nullptr) : Json(Word(recorded->second.state()))},
        {"recorded_steps", trial.recorded_steps},
        {"fate", FateWord(trial.fate)},
        {"steps", trial.steps},
        {"reason", trial.reason.empty() ? Json(nullptr) : Json(trial.reason)},
        {"best_value", value_json(trial.best_value)},
        {"best_step", value_json(trial.best_step)},
        {"last_decision", nullptr}};
    if (trial.last_decision) {
      const DecisionRecord& row = *trial.last_decision;
      json["last_decision"] =
          Json{{"level", row.level},
               {"step", row.step},
               {"value", ToJson(row.value)},
               {"decision", row.decision},
               {"reason", row.reason.empty() ? Json(nullptr) : Json(row.reason)},
               {"cutoff", value_json(row.cutoff)},
               {"n_before", row.n_before}};
    }
    trials.push_back(std::move(json));
  }
  Json winner = nullptr;
  if (const auto found = WinnerOf(hindsight, stored)) {
    winner = Json{{"trial_number", found->recorded.trial_number()},
                  {"value", ToJson(found->recorded.best_value())},
                  {"step", found->recorded.best_step()},
                  {"survives", found->survives}};
  }
  return Json{{"experiment_id", stored.experiment.id()},
              {"scheduler", Parsed(scheduler)},
              {"recorded_steps", hindsight.recorded_steps},
              {"steps", hindsight.steps},
              {"saved_steps", hindsight.recorded_steps - hindsight.steps},
              {"curves_too_short", CountFates(hindsight)[Fate::kUnknown]},
              {"winner", winner},
              {"would_win", hindsight.best ? Json(hindsight.best->value) : Json(nullptr)},
              {"trials", trials}};
}

}  // namespace rung::cli
