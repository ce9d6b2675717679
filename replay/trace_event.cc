#include "replay/trace_event.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/json_message.h"
#include "core/word_table.h"

namespace rung {
namespace {

constexpr WordTable<TraceExit, 3> kExits{{{TraceExit::kCompleted, "completed"},
                                          {TraceExit::kFailed, "failed"},
                                          {TraceExit::kLost, "lost"}}};

absl::Status ReadTrial(const EventFields& fields, std::string_view key, TrialNumber& trial) {
  constexpr std::string_view kMust = "a trial's number";
  const EventField* field = fields.Find(key, "trial");
  if (field == nullptr) return fields.Missing(key, "trial", kMust);
  int64_t number = 0;
  RUNG_RETURN_IF_ERROR(fields.ReadInteger(*field, 0, kTraceTrialsMax - 1, number));
  trial.value = static_cast<int32_t>(number);
  return absl::OkStatus();
}

absl::Status ReadReport(const EventFields& fields, TraceEvent& event) {
  event.kind = TraceEvent::Kind::kReport;
  RUNG_RETURN_IF_ERROR(fields.CheckNames("report", {"trial", "step", "value"}));
  RUNG_RETURN_IF_ERROR(ReadTrial(fields, "report", event.trial));
  const EventField* step = fields.Find("report", "step");
  if (step == nullptr) return fields.Missing("report", "step", "a number of steps, at least 1");
  RUNG_RETURN_IF_ERROR(fields.ReadInteger(*step, 1, kTraceStepsMax, event.step));
  const EventField* value = fields.Find("report", "value");
  if (value == nullptr) return fields.Missing("report", "value", "the objective");
  return fields.ReadValue(*value, event.value);
}

absl::Status ReadExit(const EventFields& fields, TraceEvent& event) {
  event.kind = TraceEvent::Kind::kExit;
  RUNG_RETURN_IF_ERROR(fields.CheckNames("exit", {"trial", "state"}));
  RUNG_RETURN_IF_ERROR(ReadTrial(fields, "exit", event.trial));
  const EventField* state = fields.Find("exit", "state");
  if (state == nullptr) return fields.Missing("exit", "state", "completed, failed or lost");
  const bool text = state->type == EventField::Type::kString;
  const auto exit = text ? ValueOf(kExits, state->text) : std::nullopt;
  if (!exit) {
    std::vector<std::string> words;
    for (const auto& [value, word] : kExits) words.emplace_back(word);
    return fields.Refuse(
        *state, fmt::format("must be one of {}, found {}{}", fmt::join(words, ", "), state->Shown(),
                            text ? DidYouMean(state->text, words) : ""));
  }
  event.exit = *exit;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TraceEvent> ReadTraceEvent(const EventFields& fields) {
  TraceEvent event;
  event.index = fields.index;
  RUNG_RETURN_IF_ERROR(fields.CheckNames("", {"report", "free", "exit"}));
  const EventField* report = fields.Find("report");
  const EventField* free = fields.Find("free");
  const EventField* exit = fields.Find("exit");
  if ((report != nullptr) + (free != nullptr) + (exit != nullptr) != 1) {
    return absl::InvalidArgumentError(
        fmt::format("events[{}]: must have one of the keys report, free, exit", fields.index));
  }
  if (free != nullptr) {
    const bool is_true = free->type == EventField::Type::kBoolean && free->boolean;
    if (!is_true) return fields.Must(*free, "true");
    return event;
  }
  const EventField& object = report != nullptr ? *report : *exit;
  if (object.type != EventField::Type::kObject) return fields.Must(object, "an object");
  const absl::Status read = report != nullptr ? ReadReport(fields, event) : ReadExit(fields, event);
  if (!read.ok()) return read;
  return event;
}

}  // namespace rung
