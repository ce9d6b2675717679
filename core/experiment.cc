#include "core/experiment.h"

namespace rung {
namespace {

constexpr WordTable<ExperimentState, 6> kStates{{
    {ExperimentState::kActive, "active"},
    {ExperimentState::kPaused, "paused"},
    {ExperimentState::kStopping, "stopping"},
    {ExperimentState::kCompleted, "completed"},
    {ExperimentState::kStopped, "stopped"},
    {ExperimentState::kFailed, "failed"},
}};

}  // namespace

std::string_view ToString(ExperimentState state) { return WordOf(kStates, state); }
std::optional<ExperimentState> ParseExperimentState(std::string_view word) {
  return ValueOf(kStates, word);
}
std::string_view ToString(Goal goal) { return WordOf(kGoalWords, goal); }
std::optional<Goal> ParseGoal(std::string_view word) { return ValueOf(kGoalWords, word); }
std::string_view ToString(BestBy best_by) { return WordOf(kBestByWords, best_by); }
std::optional<BestBy> ParseBestBy(std::string_view word) { return ValueOf(kBestByWords, word); }

}  // namespace rung
