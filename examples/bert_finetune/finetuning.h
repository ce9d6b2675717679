#pragma once

#include <absl/status/status.h>

#include "examples/bert_finetune/settings.h"
#include "trial_runner/report/trial.h"

namespace bert {

/// Trains and reports until the last unit, a decision to stop or pause, or a stop signal.
///
/// After each unit: `train_loss`, the mean training loss of the unit, and, in units that evaluate,
/// `loss` (mean negative log-likelihood in nats) and `accuracy` on the validation rows; with the
/// last unit also `test_loss` and `test_accuracy`. Equal settings and seed give equal numbers; with
/// several processes (RANK, WORLD_SIZE, …) they differ by rounding and by other dropout masks.
/// Resumes from the contract's checkpoint if it names one. Errors: CANCELLED after a stop signal,
/// to this process or to another of the trial; data, weights or cache that are missing or broken.
/// Throws what the training runtime and the trial contract throw.
absl::Status Finetune(const Settings& settings, rung::report::Trial& trial);

/// Computes the features of the frozen layers on all cores, if the cache does not hold them.
/// Errors: CANCELLED after a stop signal.
absl::Status BuildCache(const Settings& settings);

}  // namespace bert
