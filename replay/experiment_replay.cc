#include "replay/experiment_replay.h"

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "core/check.h"
#include "scheduler/json_document.h"
#include "scheduler/json_reader.h"
#include "scheduler/spec_json.h"
#include "scheduler/stopping_json.h"

namespace rung {

absl::Status CheckExperiment(std::string_view document, const StoredRecord& record) {
  const absl::StatusOr<ExperimentSpec> spec = ParseExperimentSpec(document);
  if (!spec.ok()) return spec.status();
  auto rule = MakeStoppingRule(spec->scheduler, spec->goal, spec->seed);
  if (!rule.ok()) return rule.status();
  StoredRecord sequence = record;
  sequence.every_report_counts = std::holds_alternative<MedianSpec>(spec->scheduler);
  return CheckRecord(sequence, *std::move(rule));
}

absl::StatusOr<Hindsight> LookBackUnder(std::string_view document, std::string_view scheduler,
                                        std::vector<RecordedCurve> curves) {
  const absl::StatusOr<ExperimentSpec> spec = ParseExperimentSpec(document);
  if (!spec.ok()) return spec.status();
  const absl::StatusOr<Json> json = ParseJsonDocument(scheduler);
  if (!json.ok()) return json.status();
  JsonProblems problems;
  const bool resumable = spec->trial && spec->trial->resumable;
  const StoppingRuleSpec other = ReadStoppingRule(JsonNode(*json, "scheduler", problems),
                                                  resumable ? spec->trial : std::nullopt);
  RUNG_RETURN_IF_ERROR(problems.status());
  auto rule = MakeStoppingRule(other, spec->goal, spec->seed);
  if (!rule.ok()) return rule.status();
  return LookBack({.curves = std::move(curves), .goal = spec->goal, .best_by = spec->best_by},
                  *std::move(rule));
}

}  // namespace rung
