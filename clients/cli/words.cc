#include "clients/cli/words.h"

#include <fmt/format.h>

#include <cctype>

namespace rung::cli {
namespace {

// The wire's names carry the words: TRIAL_STATE_RUNNING without its type's prefix.
std::string Lowered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return "unknown";
  name.remove_prefix(prefix.size());
  if (name == "UNSPECIFIED") return "unknown";
  std::string word;
  for (const char c : name) {
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return word;
}

}  // namespace

std::string Word(pb::ExperimentState state) {
  return Lowered(pb::ExperimentState_Name(state), "EXPERIMENT_STATE_");
}
std::string Word(pb::TrialState state) {
  return Lowered(pb::TrialState_Name(state), "TRIAL_STATE_");
}
std::string Word(pb::AttemptState state) {
  return Lowered(pb::AttemptState_Name(state), "ATTEMPT_STATE_");
}
std::string Word(pb::ExitCause cause) { return Lowered(pb::ExitCause_Name(cause), "EXIT_CAUSE_"); }
std::string Word(pb::Goal goal) { return Lowered(pb::Goal_Name(goal), "GOAL_"); }
std::string Word(pb::BestBy best_by) { return Lowered(pb::BestBy_Name(best_by), "BEST_BY_"); }

bool IsFinal(pb::ExperimentState state) {
  return state == pb::EXPERIMENT_STATE_COMPLETED || state == pb::EXPERIMENT_STATE_STOPPED ||
         state == pb::EXPERIMENT_STATE_FAILED;
}

bool IsFinal(pb::TrialState state) {
  return state == pb::TRIAL_STATE_COMPLETED || state == pb::TRIAL_STATE_STOPPED ||
         state == pb::TRIAL_STATE_FAILED || state == pb::TRIAL_STATE_CANCELLED;
}

std::string TrialText(int64_t experiment_id, int32_t trial_number) {
  return fmt::format("{}.{}", experiment_id, trial_number);
}
std::string TrialText(const pb::Trial& trial) {
  return TrialText(trial.experiment_id(), trial.trial_number());
}
std::string AttemptText(const pb::AttemptId& id) {
  return fmt::format("{}.{}.{}", id.experiment_id(), id.trial_number(), id.attempt());
}

std::string ByWhat(pb::BestBy best_by) {
  if (best_by == pb::BEST_BY_LAST) return "last reported";
  if (best_by == pb::BEST_BY_MAX_T) return "at max_t";
  return "best reported";
}

}  // namespace rung::cli
