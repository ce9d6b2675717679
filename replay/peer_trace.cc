#include "replay/peer_trace.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "core/check.h"
#include "core/experiment.h"
#include "core/word_table.h"
#include "scheduler/json_reader.h"

namespace rung {
namespace {

/// "t07" is trial 7.
absl::Status ReadTrial(const EventFields& fields, TrialNumber& trial) {
  const EventField* field = fields.Find("trial");
  if (field == nullptr) return fields.Missing("trial", "", "a name such as \"t07\"");
  const std::string& name = field->text;
  const size_t digits = name.find_first_of("0123456789");
  if (field->type == EventField::Type::kString && digits != name.npos) {
    const char* end = name.data() + name.size();
    const auto [read, error] = std::from_chars(name.data() + digits, end, trial.value);
    if (read == end && error == std::errc() && trial.value < kTraceTrialsMax) {
      return absl::OkStatus();
    }
  }
  return fields.Must(*field, fmt::format("a name that ends in a number below {}, such as \"t07\"",
                                         kTraceTrialsMax));
}

absl::Status ReadAnswer(const EventFields& fields, RecordedAnswer& answer) {
  const EventField* decision = fields.Find("decision");
  if (decision == nullptr) return fields.Missing("decision", "", "CONTINUE or STOP");
  if (decision->text != "CONTINUE" && decision->text != "STOP") {
    return fields.Must(*decision, "CONTINUE or STOP");
  }
  answer.decision = decision->text == "STOP" ? Decision::kStop : Decision::kContinue;
  const EventField* cutoff = fields.Find("cutoff");
  if (cutoff == nullptr || cutoff->type == EventField::Type::kNull) return absl::OkStatus();
  return fields.ReadValue(*cutoff, answer.cutoff.emplace());
}

Steps StepsOf(const JsonObject& params, std::string_view key) {
  const auto node = params.Require(key, "a number of steps, at least 1");
  return node ? node->Integer(1, kTraceStepsMax) : 1;
}

int64_t IntegerOf(const JsonObject& params, std::string_view key, int64_t low, int64_t high) {
  const auto node = params.Require(key, fmt::format("an integer, at least {}", low));
  return node ? node->Integer(low, high) : low;
}

Goal GoalOf(const JsonObject& params, std::string_view key, const WordTable<Goal, 2>& words) {
  const auto node = params.Require(key, fmt::format("{} or {}", words[0].second, words[1].second));
  return node ? node->Word(words) : Goal::kMinimize;
}

void ReadRay(const JsonNode& node, Trace& trace, AshaSpec& rule) {
  const JsonObject params(node, {"mode", "max_t", "grace_period", "reduction_factor", "brackets"});
  trace.setup.goal = GoalOf(params, "mode", {{{Goal::kMaximize, "max"}, {Goal::kMinimize, "min"}}});
  rule.grace_period = StepsOf(params, "grace_period");
  IntegerOf(params, "brackets", 1, 1);  // of several each trial is in a random one
  rule.max_t = StepsOf(params, "max_t");
  rule.reduction_factor = IntegerOf(params, "reduction_factor", 2, 1'000'000);
  rule.cut = AshaSpec::Cut::kQuantile;
  trace.peer->has_cutoffs = true;
}

void ReadOptuna(const JsonNode& node, Trace& trace, AshaSpec& rule) {
  const JsonObject params(node, {"direction", "max_t", "min_resource", "reduction_factor",
                                 "min_early_stopping_rate", "bootstrap_count"});
  trace.setup.goal = GoalOf(params, "direction", kGoalWords);
  rule.grace_period = StepsOf(params, "min_resource");
  IntegerOf(params, "min_early_stopping_rate", 0, 0);
  IntegerOf(params, "bootstrap_count", 0, 0);
  rule.max_t = StepsOf(params, "max_t");
  rule.reduction_factor = IntegerOf(params, "reduction_factor", 2, 1'000'000);
  rule.cut = AshaSpec::Cut::kTop;
  trace.peer->ends_at_max_t = false;
}

}  // namespace

absl::StatusOr<std::optional<PeerReport>> ReadPeerEvent(const EventFields& fields) {
  const EventField* op = fields.Find("op");
  if (op == nullptr) return fields.Missing("op", "", "add, result, report or complete");
  if (op->text == "add" || op->text == "complete") return std::optional<PeerReport>();
  if (op->text != "result" && op->text != "report") {
    return fields.Must(*op, "one of add, result, report, complete");
  }
  PeerReport report;
  report.event.kind = TraceEvent::Kind::kReport;
  report.event.index = fields.index;
  RUNG_RETURN_IF_ERROR(ReadTrial(fields, report.event.trial));
  const EventField* step = fields.Find("t");
  if (step == nullptr) return fields.Missing("t", "", "a number of steps, at least 1");
  RUNG_RETURN_IF_ERROR(fields.ReadInteger(*step, 1, kTraceStepsMax, report.event.step));
  const EventField* value = fields.Find("v");
  if (value == nullptr) return fields.Missing("v", "", "the objective");
  RUNG_RETURN_IF_ERROR(fields.ReadValue(*value, report.event.value));
  RUNG_RETURN_IF_ERROR(ReadAnswer(fields, report.answer));
  return std::optional(report);
}

absl::Status ReadPeerParams(const Json& params, Trace& trace) {
  JsonProblems problems;
  const JsonNode node(params, "params", problems);
  AshaSpec rule;
  if (trace.peer->name == "ray") {
    ReadRay(node, trace, rule);
  } else if (trace.peer->name == "optuna") {
    ReadOptuna(node, trace, rule);
  } else {
    problems.Refuse(
        "peer", fmt::format("must be one of ray, optuna, found {}", Shown(Json(trace.peer->name))));
  }
  trace.peer->max_t = rule.max_t;
  trace.setup.rule = rule;
  return problems.status();
}

}  // namespace rung
