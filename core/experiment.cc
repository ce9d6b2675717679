#include "core/experiment.h"

#include "core/word_table.h"

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
constexpr WordTable<Goal, 2> kGoals{{{Goal::kMinimize, "minimize"}, {Goal::kMaximize, "maximize"}}};
constexpr WordTable<BestBy, 3> kBestBys{
    {{BestBy::kBest, "best"}, {BestBy::kLast, "last"}, {BestBy::kMaxT, "max_t"}}};

}  // namespace

std::string_view ToString(ExperimentState state) { return WordOf(kStates, state); }
std::optional<ExperimentState> ParseExperimentState(std::string_view word) {
  return ValueOf(kStates, word);
}
std::string_view ToString(Goal goal) { return WordOf(kGoals, goal); }
std::optional<Goal> ParseGoal(std::string_view word) { return ValueOf(kGoals, word); }
std::string_view ToString(BestBy best_by) { return WordOf(kBestBys, best_by); }
std::optional<BestBy> ParseBestBy(std::string_view word) { return ValueOf(kBestBys, word); }

}  // namespace rung
