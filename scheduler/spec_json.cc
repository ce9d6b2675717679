#include "scheduler/spec_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/json_message.h"
#include "core/metric_name.h"
#include "core/parameters.h"
#include "scheduler/json_reader.h"
#include "scheduler/searcher_json.h"
#include "scheduler/space_json.h"
#include "scheduler/stopping_json.h"

namespace rung {
namespace {

constexpr int32_t kIntMax = std::numeric_limits<int32_t>::max();
constexpr size_t kNameBytesMax = 256;
constexpr size_t kPathBytesMax = 4096;
constexpr int32_t kProcessesMax = 1024;
constexpr int32_t kGpusOfProcessMax = 64;
constexpr double kCpusOfProcessMax = 4096;

double ReadPositive(const JsonNode& node, double most) {
  const double value = node.Number();
  if (!(value > 0 && value <= most)) node.Refuse(fmt::format("a number > 0 and <= {}", most));
  return value;
}

/// Checks that every `{name}` of an argument is a parameter. A conditional one that does not apply
/// to a trial leaves no text there.
void CheckPlaceholders(const JsonNode& node, std::string_view argument, const SpaceSpec& space) {
  std::vector<std::string> names;
  for (const ParameterSpec& parameter : space.parameters) names.push_back(parameter.name);
  const auto refuse = [&](std::string_view what) {
    node.problems().Refuse(
        node.path(),
        fmt::format("{} Parameters: {}; a brace is written {{{{ or }}}}", what,
                    names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  };
  for (size_t i = 0; i < argument.size(); ++i) {
    const char c = argument[i];
    if (c != '{' && c != '}') continue;
    if (i + 1 < argument.size() && argument[i + 1] == c) {
      ++i;
      continue;
    }
    const size_t end = argument.find_first_of("{}", i + 1);
    if (c == '}' || end == argument.npos || argument[end] == '{') {
      return refuse(fmt::format("must not hold a single {}.", c));
    }
    const std::string name(argument.substr(i + 1, end - i - 1));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string near = DidYouMean(name, names);
      return refuse(fmt::format("placeholder {{{}}} is no parameter of the space{}", name,
                                near.empty() ? "." : near));
    }
    i = end;
  }
}

std::vector<std::string> ReadCommand(const JsonNode& node, const SpaceSpec& space) {
  std::vector<std::string> command;
  const size_t count = node.Array(1, "argument (no shell: [\"python3\", \"train.py\"])");
  for (size_t i = 0; i < count && node.problems().ok(); ++i) {
    const JsonNode argument = node.Element(i);
    command.push_back(argument.Text(i == 0 ? 1 : 0, kDocumentBytesMax));
    CheckPlaceholders(argument, command.back(), space);
  }
  return command;
}

std::vector<std::pair<std::string, std::string>> ReadEnvironment(const JsonNode& node) {
  // INTERFACES.md §3: each trial process is given these, and another value would mislead it.
  // OMP_NUM_THREADS is a proposal.
  constexpr std::array<std::string_view, 22> kOurs{"RUNG_PARAMS",
                                                   "RUNG_TRIAL_ID",
                                                   "RUNG_EXPERIMENT",
                                                   "RUNG_ATTEMPT",
                                                   "RUNG_SOCKET",
                                                   "RUNG_CHECKPOINT_DIR",
                                                   "RUNG_RESUME_FROM",
                                                   "RUNG_RESUME_STEP",
                                                   "RUNG_MAX_STEP",
                                                   "RUNG_SEED",
                                                   "RANK",
                                                   "LOCAL_RANK",
                                                   "WORLD_SIZE",
                                                   "LOCAL_WORLD_SIZE",
                                                   "GROUP_RANK",
                                                   "GROUP_WORLD_SIZE",
                                                   "NODE_RANK",
                                                   "MASTER_ADDR",
                                                   "MASTER_PORT",
                                                   "TORCHELASTIC_RUN_ID",
                                                   "TORCHELASTIC_RESTART_COUNT",
                                                   "CUDA_VISIBLE_DEVICES"};
  std::vector<std::pair<std::string, std::string>> env;
  if (!node.json().is_object()) {
    node.Refuse("an object of texts");
    return env;
  }
  for (const auto& member : node.json().items()) {
    const std::string& name = member.key();
    const JsonNode value = node.Member(name);
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      node.problems().Refuse(value.path(), "a variable's name must not be empty nor hold = or NUL");
    }
    if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end()) {
      node.problems().Refuse(value.path(), "is set by rung itself, must be left out");
    }
    env.emplace_back(name, value.Text(0, kDocumentBytesMax));
  }
  return env;
}

std::string ReadAbsolutePath(const JsonNode& node) {
  std::string path = node.Text(0, kPathBytesMax);
  if (!path.starts_with('/')) node.Refuse("an absolute path");
  return path;
}

Resources ReadResources(const JsonNode& node) {
  const JsonObject object(node, {"gpus", "cpus", "memory"}, {"gpu_memory", "labels"});
  Resources resources{.milli_cpus = 1000};
  if (const auto gpus = object.Find("gpus")) resources.gpus = gpus->Integer32(0, kGpusOfProcessMax);
  if (const auto cpus = object.Find("cpus")) {
    resources.milli_cpus = std::llround(ReadPositive(*cpus, kCpusOfProcessMax) * 1000);
    if (node.problems().ok() && resources.milli_cpus == 0) cpus->Refuse("at least 0.001");
  }
  if (const auto memory = object.Find("memory")) resources.memory_bytes = memory->Size();
  return resources;
}

void ReadGraces(const JsonObject& object, TrialTemplate& trial) {
  const std::pair<std::string_view, std::chrono::milliseconds*> graces[] = {
      {"grace", &trial.grace},
      {"failure_grace", &trial.failure_grace},
      {"finish_grace", &trial.finish_grace}};
  for (const auto& [key, grace] : graces) {
    if (const auto node = object.Find(key)) *grace = node->Duration();
  }
}

TrialTemplate ReadTrial(const JsonNode& node, const SpaceSpec& space) {
  const JsonObject object(node, {"command", "working_dir", "env", "processes", "per_process",
                                 "reduce", "resumable", "checkpoint_root", "grace", "failure_grace",
                                 "finish_grace", "max_failures", "max_losses"});
  TrialTemplate trial;
  if (const auto command = object.Require("command", "an array of arguments")) {
    trial.command = ReadCommand(*command, space);
  }
  if (const auto folder = object.Require(
          "working_dir", "the absolute path of the folder in which the command is started")) {
    trial.working_dir = ReadAbsolutePath(*folder);
  }
  if (const auto env = object.Find("env")) trial.env = ReadEnvironment(*env);
  if (const auto processes = object.Find("processes")) {
    trial.processes = processes->Integer32(1, kProcessesMax);
  }
  if (const auto amounts = object.Find("per_process")) trial.per_process = ReadResources(*amounts);
  if (const auto reduce = object.Find("reduce")) {
    constexpr WordTable<Reduce, 4> kReduces{{{Reduce::kRank0, "rank0"},
                                             {Reduce::kMean, "mean"},
                                             {Reduce::kMin, "min"},
                                             {Reduce::kMax, "max"}}};
    trial.reduce = reduce->Word(kReduces);
  }
  if (const auto resumable = object.Find("resumable")) trial.resumable = resumable->Boolean();
  if (const auto root = object.Find("checkpoint_root")) {
    trial.checkpoint_root = ReadAbsolutePath(*root);
  }
  ReadGraces(object, trial);
  if (const auto most = object.Find("max_failures")) {
    trial.max_failures = most->Integer32(0, kIntMax);
  }
  if (const auto most = object.Find("max_losses")) trial.max_losses = most->Integer32(0, kIntMax);
  return trial;
}

Limits ReadLimits(const JsonNode& node) {
  const JsonObject object(
      node, {"max_concurrent", "deadline", "gpu_hours", "max_failed_trials", "metrics_per_trial"});
  Limits limits;
  if (const auto most = object.Find("max_concurrent")) {
    limits.max_concurrent = most->Integer32(1, kIntMax);
  }
  if (const auto deadline = object.Find("deadline")) {
    limits.deadline = deadline->Duration();
    if (node.problems().ok() && limits.deadline->count() == 0) deadline->Refuse("longer than 0");
  }
  if (const auto hours = object.Find("gpu_hours")) limits.gpu_hours = ReadPositive(*hours, 1e9);
  if (const auto most = object.Find("max_failed_trials")) {
    limits.max_failed_trials = most->Integer32(1, kIntMax);
  }
  if (const auto most = object.Find("metrics_per_trial")) {
    limits.metrics_per_trial = most->Integer(1, 1'000'000'000);
  }
  return limits;
}

void ReadObjective(const JsonObject& object, ExperimentSpec& spec) {
  if (const auto name = object.Find("name")) {
    spec.name = name->Text(1, kNameBytesMax);
    // `rung show 12.3` asks for a trial.
    if (!spec.name.empty() && spec.name.find_first_not_of("0123456789.") == std::string::npos) {
      name->Refuse("a text that is not digits and points alone, which is what an id looks like");
    }
  }
  if (const auto metric = object.Require("metric", "the name of the metric to optimise")) {
    spec.metric = metric->Text(1, kNameBytesMax);
    // No trial could report it.
    if (!spec.metric.empty() && !CheckMetricName(spec.metric).ok()) {
      metric->Refuse("a name without control characters");
    }
  }
  if (const auto goal = object.Require("goal", "\"maximize\" or \"minimize\"")) {
    spec.goal = goal->Word(kGoalWords);
  }
  if (const auto best_by = object.Find("best_by")) {
    spec.best_by = best_by->Word(kBestByWords);
    const auto* median = std::get_if<MedianSpec>(&spec.scheduler);
    const bool has_max_t = median != nullptr ? median->max_t.has_value()
                                             : std::holds_alternative<AshaSpec>(spec.scheduler);
    if (spec.best_by == BestBy::kMaxT && !has_max_t) {
      best_by->Refuse("best or last where the scheduler has no max_t");
    }
  }
}

ExperimentSpec ReadSpec(const JsonNode& node) {
  const JsonObject object(node, {"version", "name", "metric", "goal", "best_by", "seed", "space",
                                 "searcher", "scheduler", "limits", "trial", "priority", "owner"});
  ExperimentSpec spec;
  spec.name = "experiment";
  if (const auto version = object.Find("version")) version->Integer(1, 1);
  if (const auto seed = object.Find("seed")) {
    spec.seed =
        seed->Integer(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  }
  if (const auto space = object.Require("space", "an object of parameters")) {
    spec.space = ReadSpace(*space);
  }
  const auto searcher =
      object.Require("searcher", "an object such as {\"random\": {\"trials\": 27}}");
  if (searcher && node.problems().ok()) spec.searcher = ReadSearcher(*searcher);
  const auto trial = object.Find("trial");
  if (trial && node.problems().ok()) spec.trial = ReadTrial(*trial, spec.space);
  if (const auto scheduler = object.Find("scheduler")) {
    spec.scheduler = ReadStoppingRule(*scheduler, spec.trial);
  }
  ReadObjective(object, spec);
  if (const auto limits = object.Find("limits")) spec.limits = ReadLimits(*limits);
  if (const auto priority = object.Find("priority")) {
    spec.priority = priority->Integer32(-1'000'000, 1'000'000);
  }
  if (const auto owner = object.Find("owner")) spec.owner = owner->Text(1, kNameBytesMax);
  return spec;
}

/// Where the members of the top-level object `trial` begin, in a text known to be JSON.
std::optional<size_t> StartOfTrial(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const size_t start = i + 1;
    for (++i; text[i] != '"'; ++i) {
      if (text[i] == '\\') ++i;
    }
    if (depth != 1 || text.substr(start, i - start) != "trial") continue;
    const size_t colon = text.find_first_not_of(" \t\r\n", i + 1);
    if (text[colon] != ':') continue;  // a value
    return text.find('{', colon) + 1;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<ExperimentDocument> ReadExperimentDocument(std::string_view text,
                                                          std::string_view working_dir) {
  absl::StatusOr<Json> json = ParseJsonDocument(text);
  if (!json.ok()) return json.status();
  ExperimentDocument document{.text = std::string(text), .spec = {}};
  const bool has_trial =
      json->is_object() && json->contains("trial") && (*json)["trial"].is_object();
  if (!working_dir.empty() && has_trial && !(*json)["trial"].contains("working_dir")) {
    const bool only = (*json)["trial"].empty();
    (*json)["trial"]["working_dir"] = working_dir;
    if (const std::optional<size_t> start = StartOfTrial(text)) {
      document.text.insert(
          *start, fmt::format("\"working_dir\": {}{}", JsonQuote(working_dir), only ? "" : ", "));
    } else {
      document.text = CanonicalJson(*json);  // the key "trial" was written with escapes
    }
    if (document.text.size() > kDocumentBytesMax) {
      return absl::InvalidArgumentError(fmt::format(
          "the document: must be at most {} bytes with trial.working_dir filled in, found {}",
          kDocumentBytesMax, document.text.size()));
    }
  }
  JsonProblems problems;
  document.spec = ReadSpec(JsonNode(*json, "", problems));
  RUNG_RETURN_IF_ERROR(problems.status());
  return document;
}

absl::StatusOr<ExperimentSpec> ParseExperimentSpec(std::string_view text) {
  const absl::StatusOr<Json> json = ParseJsonDocument(text, text.size());
  if (!json.ok()) return json.status();
  JsonProblems problems;
  ExperimentSpec spec = ReadSpec(JsonNode(*json, "", problems));
  RUNG_RETURN_IF_ERROR(problems.status());
  return spec;
}

}  // namespace rung
