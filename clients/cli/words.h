#pragma once

#include <string>
#include <string_view>

#include "rung/v1/types.pb.h"

/// The lower-case words of the database and the CLI for the wire's enums.
namespace rung::cli {

namespace pb = ::rung::v1;

/// "running" for TRIAL_STATE_RUNNING. A value that this client does not know yet, or UNSPECIFIED,
/// is "unknown".
std::string Word(pb::ExperimentState state);
std::string Word(pb::TrialState state);
std::string Word(pb::AttemptState state);
std::string Word(pb::ExitCause cause);
std::string Word(pb::Goal goal);
std::string Word(pb::BestBy best_by);

bool IsFinal(pb::ExperimentState state);
bool IsFinal(pb::TrialState state);

/// "12.3"
std::string TrialText(int64_t experiment_id, int32_t trial_number);
std::string TrialText(const pb::Trial& trial);
/// "12.3.0"
std::string AttemptText(const pb::AttemptId& id);

/// How a best was chosen, for people: "best reported", "last", "at max_t".
std::string ByWhat(pb::BestBy best_by);

}  // namespace rung::cli
