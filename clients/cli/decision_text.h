#pragma once

#include <string>

#include "rung/v1/types.pb.h"

/// Decisions of a stopping rule as sentences. Pure.
namespace rung::cli {

namespace pb = ::rung::v1;

/// "stopped at level 30: 0.71 is below the cutoff 0.7533 of 4 earlier values". Where smaller is
/// better a worse value is above its cutoff.
std::string DecisionText(const pb::DecisionRow& row, pb::Goal goal);

/// Why the trial is in its state: "trial 12.3 is queued: waits for 2 GPUs".
std::string StateSentence(const pb::Trial& trial);

}  // namespace rung::cli
