#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "clients/cli/console.h"
#include "rung/v1/tuner.pb.h"

/// How far an experiment is, as text. Pure: `now_us` is an argument.
namespace rung::cli {

namespace pb = ::rung::v1;

/// Trials in a final state.
int64_t FinishedTrials(const pb::TrialCounts& counts);

/// Seconds from the creation to the end, or to now.
double ElapsedSeconds(const pb::Experiment& experiment, int64_t now_us);

/// Estimated seconds until the experiment ends: the steps that are left, at the pace so far. A
/// trial is taken to cost what the finished and the paused ones did on average, with the plan's
/// expectation beside them; where there is neither, max_step.
/// nullopt when there is nothing to go by, or nothing goes on.
std::optional<double> SecondsLeft(const pb::WatchExperimentResponse& update, int64_t now_us);

/// "[=====>    ]", `columns` wide in all (at least 4); `fraction` is clamped to 0 … 1.
std::string ProgressBar(double fraction, size_t columns);

/// The live table: at most `terminal.lines` - 1 lines, none wider than `terminal.columns` - 1.
std::string ProgressScreen(const pb::WatchExperimentResponse& update, int64_t now_us,
                           const Terminal& terminal);

/// The same in one line, for logs.
std::string ProgressLine(const pb::WatchExperimentResponse& update, int64_t now_us);

}  // namespace rung::cli
