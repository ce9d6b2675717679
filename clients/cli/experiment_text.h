#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clients/cli/console.h"
#include "clients/cli/table.h"
#include "rung/v1/types.pb.h"

/// Experiments and trials as text for people. Pure: `now_us` is an argument.
namespace rung::cli {

namespace pb = ::rung::v1;

Tone ToneOf(pb::ExperimentState state);
Tone ToneOf(pb::TrialState state);

/// "paused (nothing_works)"
std::string StateText(const pb::Experiment& experiment);
std::string StateText(const pb::Trial& trial);

/// "best accuracy 0.8512 (best reported) by trial 12.5 at step 90: lr=3e-05", or "no value yet".
std::string BestText(const pb::Experiment& experiment);

/// "0.273 GPU slot-hours"; CPU slot-hours when no GPU was held.
std::string SlotHoursText(const pb::Experiment& experiment);
/// GPU hours, or CPU share hours when no GPU was held.
double SlotHours(const pb::Experiment& experiment);
bool CountsGpus(const pb::Experiment& experiment);

/// Everything of one experiment, a line a fact.
std::string ExperimentText(const pb::Experiment& experiment, int64_t now_us,
                           const Terminal& terminal);
/// Everything of one trial, with its attempts and the last lines of ranks that failed.
std::string TrialText(const pb::Trial& trial, const pb::Experiment& experiment, int64_t now_us,
                      const Terminal& terminal);

/// Occupancy of the rungs, lowest level first.
Table RungsTable(const pb::Experiment& experiment);
Table ExperimentsTable(const std::vector<pb::Experiment>& experiments, int64_t now_us);
Table TrialsTable(const std::vector<pb::Trial>& trials, const pb::Experiment& experiment);

}  // namespace rung::cli
