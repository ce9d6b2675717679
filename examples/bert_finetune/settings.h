#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "trial_runner/report/trial.h"

namespace bert {

/// Everything that decides a run; README.md tells why the two settings are as they are.
struct Settings {
  // What the search varies; a trial's parameters of these names replace the flags.
  double lr = 1e-4;            ///< peak learning rate, > 0
  int64_t batch_size = 32;     ///< rows an update over all processes, in [1, unit_examples]
  int64_t warmup_steps = 500;  ///< updates of linear warm-up before scaling, >= 0
  double weight_decay = 0.01;  ///< of matrices, >= 0

  std::string data = "examples/bert_finetune/data";
  std::string cache;             ///< folder of the feature cache; needed when layers are frozen
  int64_t freeze_layers = 5;     ///< layers [0, n) are not trained, in [0, 5]; embeddings never are
  int64_t unit_examples = 448;   ///< training rows between two reports
  int64_t units = 27;            ///< reports of a whole run
  int64_t eval_every = 1;        ///< units between two evaluations; the last unit always has one
  int64_t checkpoint_every = 0;  ///< units between two checkpoints; 0: none
  double warmup_scale = 0.1;     ///< warm-up updates = warmup_steps * warmup_scale, rounded
  double dropout = 0.1;          ///< in [0, 1)
  bool bf16 = false;             ///< matrix products in bfloat16
  uint64_t seed = 0;
  bool build_cache = false;  ///< only compute the features

  /// Updates after `unit` whole units.
  int64_t UpdatesAfter(int64_t unit) const { return unit * unit_examples / batch_size; }
  int64_t WarmupUpdates() const;
};

/// Reads the command line. nullopt: help was printed. Errors: INVALID_ARGUMENT.
absl::StatusOr<std::optional<Settings>> ParseCommandLine(int argc, const char* const* argv);

/// Takes over a trial's parameters, seed and budget. Errors: INVALID_ARGUMENT naming a parameter
/// that this program does not have or whose value is out of range.
absl::Status ApplyContract(const rung::report::Trial& trial, Settings& settings);

/// Checks all ranges. Errors: INVALID_ARGUMENT naming the flag, what is allowed and what was found.
absl::Status Check(const Settings& settings);

}  // namespace bert
