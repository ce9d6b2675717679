#include "examples/bert_finetune/settings.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

namespace bert {
namespace {

constexpr const char* kDescription =
    "Fine-tunes a BERT-architecture encoder to tell positive from negative movie reviews.\n"
    "As a rung trial it takes lr, batch_size, warmup_steps and weight_decay from RUNG_PARAMS and\n"
    "reports to RUNG_SOCKET; started by hand it takes flags and reports to stderr.\n";
constexpr const char* kExamples =
    "\nExamples:\n"
    "  bert_finetune --data data --cache cache --build-cache      compute the frozen layers once\n"
    "  bert_finetune --data data --cache cache --lr 1e-4          the mini setting, by hand\n"
    "  bert_finetune --data data --setting full --units 10        a tenth of the full setting\n";

/// Whether this processor multiplies bfloat16 matrices in hardware; without, bfloat16 is slower.
bool HasAmxBf16() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags")) return line.find(" amx_bf16") != std::string::npos;
  }
  return false;
}

void ApplySetting(const std::string& setting, Settings& settings) {
  const bool full = setting == "full";
  settings.freeze_layers = full ? 0 : 5;
  settings.unit_examples = full ? 192 : 448;
  settings.units = full ? 100 : 27;
  settings.eval_every = full ? 5 : 1;
}

absl::Status Refuse(const std::string& message) { return absl::InvalidArgumentError(message); }

}  // namespace

int64_t Settings::WarmupUpdates() const {
  return std::llround(static_cast<double>(warmup_steps) * warmup_scale);
}

absl::StatusOr<std::optional<Settings>> ParseCommandLine(int argc, const char* const* argv) {
  Settings settings;
  std::string setting = "mini";
  std::string bf16 = "auto";
  // The setting gives the defaults that the other flags then replace.
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--setting" && i + 1 < argc) setting = argv[i + 1];
    if (argument.starts_with("--setting=")) setting = argument.substr(10);
  }
  ApplySetting(setting, settings);

  CLI::App app(kDescription);
  app.footer(kExamples);
  app.option_defaults()->always_capture_default();
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--setting", setting, "mini: top layer on cached features; full: all layers")
      ->check(CLI::IsMember({"mini", "full"}));
  app.add_option("--lr", settings.lr, "peak learning rate");
  app.add_option("--batch-size", settings.batch_size, "rows an update over all processes");
  app.add_option("--warmup-steps", settings.warmup_steps, "updates of warm-up, before scaling");
  app.add_option("--weight-decay", settings.weight_decay, "decoupled weight decay of matrices");
  app.add_option("--data", settings.data, "folder with weights, vocabulary and text");
  app.add_option("--cache", settings.cache, "folder of the frozen layers' outputs");
  app.add_option("--freeze-layers", settings.freeze_layers, "lower layers that are not trained");
  app.add_option("--unit-examples", settings.unit_examples, "training rows between two reports");
  app.add_option("--units", settings.units, "reports of a run; RUNG_MAX_STEP replaces it");
  app.add_option("--eval-every", settings.eval_every, "units between two evaluations");
  app.add_option("--checkpoint-every", settings.checkpoint_every, "units; 0: no checkpoints");
  app.add_option("--warmup-scale", settings.warmup_scale, "factor on warmup_steps");
  app.add_option("--dropout", settings.dropout, "of hidden states and of the pooled vector");
  app.add_option("--bf16", bf16, "matrix products in bfloat16; auto: if the processor has AMX")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  app.add_option("--seed", settings.seed, "RUNG_SEED replaces it");
  app.add_flag("--build-cache", settings.build_cache, "only compute the features, on all cores");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return Refuse(fmt::format("{}; --help lists the flags", error.what()));
  }
  settings.bf16 = bf16 == "on" || (bf16 == "auto" && HasAmxBf16());
  return settings;
}

absl::Status ApplyContract(const rung::report::Trial& trial, Settings& settings) {
  const rung::report::TrialContract& contract = trial.contract();
  const std::set<std::string> known = {"lr", "batch_size", "warmup_steps", "weight_decay"};
  for (const auto& [name, value] : contract.params.items()) {
    if (!known.contains(name)) {
      return Refuse(
          fmt::format("parameter '{}' is none of this program: lr, batch_size, "
                      "warmup_steps, weight_decay",
                      name));
    }
  }
  try {
    settings.lr = trial.Param<double>("lr", settings.lr);
    settings.batch_size = trial.Param<int64_t>("batch_size", settings.batch_size);
    settings.warmup_steps = trial.Param<int64_t>("warmup_steps", settings.warmup_steps);
    settings.weight_decay = trial.Param<double>("weight_decay", settings.weight_decay);
  } catch (const rung::report::TrialError& error) {
    return Refuse(error.what());
  }
  if (!contract.trial_id.empty()) settings.seed = contract.seed;
  if (contract.max_step) settings.units = *contract.max_step;
  return Check(settings);
}

absl::Status Check(const Settings& s) {
  if (!(s.lr > 0) || !std::isfinite(s.lr)) {
    return Refuse(fmt::format("lr: must be > 0 and finite, found {}", s.lr));
  }
  if (s.unit_examples < 1) {
    return Refuse(fmt::format("unit-examples: must be at least 1, found {}", s.unit_examples));
  }
  if (s.batch_size < 1 || s.batch_size > s.unit_examples) {
    return Refuse(fmt::format("batch_size: must be in [1, {}] (the rows of a unit), found {}",
                              s.unit_examples, s.batch_size));
  }
  if (s.warmup_steps < 0) {
    return Refuse(fmt::format("warmup_steps: must be >= 0, found {}", s.warmup_steps));
  }
  if (!(s.weight_decay >= 0) || !std::isfinite(s.weight_decay)) {
    return Refuse(fmt::format("weight_decay: must be >= 0 and finite, found {}", s.weight_decay));
  }
  if (s.freeze_layers < 0 || s.freeze_layers > 5) {
    return Refuse(fmt::format("freeze-layers: must be in [0, 5], found {}", s.freeze_layers));
  }
  if (s.freeze_layers > 0 && s.cache.empty()) {
    return Refuse("cache: frozen layers need --cache FOLDER for their outputs");
  }
  if (s.build_cache && s.freeze_layers == 0) {
    return Refuse("build-cache: there is nothing to compute without frozen layers");
  }
  if (s.units < 1 || s.eval_every < 1 || s.checkpoint_every < 0) {
    return Refuse(
        fmt::format("units and eval-every must be at least 1 and checkpoint-every at "
                    "least 0, found {}, {} and {}",
                    s.units, s.eval_every, s.checkpoint_every));
  }
  if (!(s.warmup_scale >= 0 && s.warmup_scale <= 1000)) {
    return Refuse(fmt::format("warmup-scale: must be in [0, 1000], found {}", s.warmup_scale));
  }
  if (!(s.dropout >= 0 && s.dropout < 1)) {
    return Refuse(fmt::format("dropout: must be in [0, 1), found {}", s.dropout));
  }
  return absl::OkStatus();
}

}  // namespace bert
