#include "clients/cli/decision_text.h"

#include <fmt/format.h>

#include <map>

#include "clients/cli/quantity.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

const std::map<std::string, std::string> kPromotionReasons{
    {"below_top", "not in the share that goes on, so far"},
    {"awaits_resources", "in the share that goes on, but what it freed went to another"},
    {"promoted", "in the share that goes on"},
    {"promoted_on_arrival", "in the share that goes on, and it kept what it would have freed"},
    {"drain", "nothing else was left to run and no trial had completed"},
};

// Where the report that passed the level was at a later step than the level itself.
std::string Where(const pb::DecisionRow& row) {
  if (row.step() == row.level()) return fmt::format("at level {}", row.level());
  return fmt::format("at level {} (step {})", row.level(), row.step());
}

std::string RankText(const pb::DecisionRow& row) {
  if (!row.has_rank())
    return fmt::format("it has no rank among {}", CountText(row.entries(), "value"));
  return fmt::format("it has rank {} of {}", row.rank(), CountText(row.entries(), "value"));
}

// "0.71 is below the cutoff 0.7533 of 4 earlier values"
std::string AgainstCutoff(const pb::DecisionRow& row, pb::Goal goal) {
  const bool maximize = goal != pb::GOAL_MINIMIZE;
  const std::string_view worse = maximize ? "below" : "above";
  const bool is_worse = maximize ? row.value() < row.cutoff() : row.value() > row.cutoff();
  std::string relation = fmt::format("is not {}", worse);
  if (is_worse) relation = fmt::format("is {}", worse);
  if (row.value() == row.cutoff()) relation = "equals";
  const auto [value, cutoff] = ComparedMetricTexts(row.value(), row.cutoff());
  return fmt::format("{} {} the cutoff {} of {}", value, relation, cutoff,
                     CountText(row.n_before(), "earlier value"));
}

std::string Because(const pb::DecisionRow& row, pb::Goal goal) {
  const std::string value = MetricText(row.value());
  if (row.reason() == "non_finite") return fmt::format("{} is not a finite value", value);
  if (row.reason() == "no_rivals") return fmt::format("{} is the first value there", value);
  if (row.reason() == "few_rivals") {
    return fmt::format("{} has only {} to be compared with, fewer than min_rivals", value,
                       CountText(row.n_before(), "earlier value"));
  }
  if (row.reason() == "below_median") {
    const auto [best, median] = ComparedMetricTexts(row.value(), row.cutoff());
    return fmt::format("its best value {} is {} {}, the median of the running means of {} others",
                       best, goal != pb::GOAL_MINIMIZE ? "below" : "above", median, row.n_before());
  }
  if (row.has_cutoff()) return AgainstCutoff(row, goal);
  const std::string text = fmt::format("{}, {}", value, RankText(row));
  if (row.reason().empty()) return text;
  const auto meaning = kPromotionReasons.find(row.reason());
  if (meaning == kPromotionReasons.end()) return fmt::format("{} ({})", text, row.reason());
  return fmt::format("{}: {}", text, meaning->second);
}

// What the words of `reason` mean, for those that are no sentence of their own.
std::string ReasonText(const std::string& reason) {
  static const std::map<std::string, std::string> texts{
      {"below_cutoff", "its value was worse than the cutoff of a rung"},
      {"below_median", "its best value was worse than the median of the others' running means"},
      {"non_finite", "its objective was not a finite value"},
      {"max_failures", "more of its attempts failed than trial.max_failures allows"},
      {"max_t", "it reached max_t, the last step of every trial"},
      {"not_promoted", "others of its rung were promoted"},
      {"lost_repeatedly", "its machines were lost max_losses times without a new step"},
      {"rung_stop", "it was ended by `rung stop`"},
      {"stopped_by_user", "it was ended by `rung stop`"},
      {"experiment_ended", "its experiment ended"},
  };
  const auto found = texts.find(reason);
  return found == texts.end() ? reason : fmt::format("{} ({})", found->second, reason);
}

}  // namespace

std::string DecisionText(const pb::DecisionRow& row, pb::Goal goal) {
  const std::string& decision = row.decision();
  if (decision == "skipped") {
    return fmt::format(
        "skipped level {}: its report at step {} was at a higher level already, or at max_t",
        row.level(), row.step());
  }
  std::string verb = decision + " ";
  if (decision == "continue") verb = "went on ";
  if (decision == "stop") verb = "stopped ";
  if (decision == "pause") verb = "paused ";
  if (decision == "promote") verb = "promoted ";
  return Printable(verb + Where(row) + ": " + Because(row, goal));
}

std::string StateSentence(const pb::Trial& trial) {
  std::string sentence = fmt::format("trial {} is {}", TrialText(trial), Word(trial.state()));
  if (trial.reason().empty()) return sentence;
  return Printable(sentence + ": " + ReasonText(trial.reason()));
}

}  // namespace rung::cli
