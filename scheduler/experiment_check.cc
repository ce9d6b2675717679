#include "scheduler/experiment_check.h"

#include <fmt/format.h>

#include <utility>

#include "scheduler/experiment_plan.h"
#include "scheduler/proto_codec.h"
#include "scheduler/spec_json.h"
#include "search/plan.h"

namespace rung {
namespace {

constexpr double kDecadesWorthALogarithm = 100;  // high / low

void WarnOfSpace(const SpaceSpec& space, std::vector<std::string>& warnings) {
  for (const ParameterSpec& parameter : space.parameters) {
    const auto* uniform = std::get_if<Uniform>(&parameter.domain);
    if (uniform == nullptr || uniform->low <= 0) continue;
    if (uniform->high < uniform->low * kDecadesWorthALogarithm) continue;
    warnings.push_back(fmt::format(
        "space.{}: uniform over [{}, {}] draws 99 of 100 values above {}; loguniform tries each "
        "order of magnitude alike",
        parameter.name, JsonFloat(uniform->low), JsonFloat(uniform->high),
        JsonFloat(uniform->low + (uniform->high - uniform->low) / 100)));
  }
}

/// The number of trials that `random` or `sobol` asks for, with the path of its searcher.
struct TrialsWanted {
  std::string path;
  std::optional<int32_t> trials;
};

TrialsWanted TrialsWantedBy(const SearcherSpec& searcher) {
  if (const auto* random = std::get_if<RandomSearcherSpec>(&searcher.kind)) {
    return {"searcher.random", random->trials};
  }
  if (const auto* sobol = std::get_if<SobolSearcherSpec>(&searcher.kind)) {
    return {"searcher.sobol", sobol->trials};
  }
  return {};
}

void WarnOfSearcher(const ExperimentSpec& spec, std::optional<int64_t> planned,
                    std::vector<std::string>& warnings) {
  const auto [path, trials] = TrialsWantedBy(spec.searcher);
  if (!trials) return;
  if (planned && *planned < *trials) {
    warnings.push_back(fmt::format(
        "{}.trials: the space has only {} configurations, so that many of the {} trials "
        "are created",
        path, *planned, *trials));
  }
  int64_t combinations = 1;
  for (const ParameterSpec& parameter : spec.space.parameters) {
    const auto* grid = std::get_if<GridValues>(&parameter.domain);
    if (grid == nullptr || combinations > *trials) continue;
    combinations *= static_cast<int64_t>(grid->values.size());
  }
  if (combinations > *trials) {
    warnings.push_back(
        fmt::format("{}.trials: the grids of the space have more combinations than the {} trials, "
                    "which try each once in turn: some are never tried",
                    path, *trials));
  }
  const auto initial = static_cast<int32_t>(spec.searcher.initial_points.size());
  if (initial == *trials) {
    warnings.push_back(fmt::format(
        "{}.trials: all {} trials are initial_points, so nothing is searched", path, *trials));
  }
}

}  // namespace

absl::StatusOr<ExperimentCheck> CheckExperiment(std::string_view document,
                                                std::string_view working_dir, int32_t samples) {
  constexpr int32_t kSamplesMax = 100;
  const absl::StatusOr<int64_t> wanted = NumberFromProto("samples", samples, 0, kSamplesMax);
  if (!wanted.ok()) return wanted.status();
  const absl::StatusOr<ExperimentDocument> read = ReadExperimentDocument(document, working_dir);
  if (!read.ok()) return read.status();
  const ExperimentSpec& spec = read->spec;
  const auto searcher = MakeSearcher(spec.searcher, spec.space, spec.seed);
  if (!searcher.ok()) return searcher.status();
  ExperimentCheck check;
  check.planned_trials = (*searcher)->PlannedTrials();
  WarnOfSpace(spec.space, check.warnings);
  WarnOfSearcher(spec, check.planned_trials, check.warnings);
  const absl::StatusOr<Plan> plan = MakePlan({.rule = spec.scheduler,
                                              .trials = check.planned_trials,
                                              .concurrent = spec.limits.max_concurrent});
  if (!plan.ok()) return plan.status();
  check.plan_json = PlanJson(*plan, check.planned_trials);
  for (const std::string& warning : plan->warnings) {
    check.warnings.push_back("scheduler: " + warning);
  }
  if (!spec.trial) {
    check.warnings.push_back(
        "no `trial`: nothing is started by itself, trials are asked for by clients (start_trial)");
  }
  for (int32_t number = 0; number < samples; ++number) {
    std::optional<Configuration> sample = (*searcher)->Suggest(TrialNumber{number});
    if (!sample) break;
    check.samples.push_back(*std::move(sample));
  }
  return check;
}

}  // namespace rung
