#include "core/trial.h"

#include "core/word_table.h"

namespace rung {
namespace {

constexpr WordTable<TrialState, 7> kTrialStates{{
    {TrialState::kQueued, "queued"},
    {TrialState::kRunning, "running"},
    {TrialState::kPaused, "paused"},
    {TrialState::kCompleted, "completed"},
    {TrialState::kStopped, "stopped"},
    {TrialState::kFailed, "failed"},
    {TrialState::kCancelled, "cancelled"},
}};
constexpr WordTable<AttemptState, 6> kAttemptStates{{
    {AttemptState::kAssigned, "assigned"},
    {AttemptState::kStarting, "starting"},
    {AttemptState::kRunning, "running"},
    {AttemptState::kStopping, "stopping"},
    {AttemptState::kExited, "exited"},
    {AttemptState::kLost, "lost"},
}};
constexpr WordTable<ExitCause, 6> kExitCauses{{
    {ExitCause::kCompleted, "completed"},
    {ExitCause::kFailed, "failed"},
    {ExitCause::kStopped, "stopped"},
    {ExitCause::kCouldNotStart, "could_not_start"},
    {ExitCause::kRefused, "refused"},
    {ExitCause::kLost, "lost"},
}};
constexpr WordTable<Decision, 3> kDecisions{{
    {Decision::kContinue, "continue"},
    {Decision::kStop, "stop"},
    {Decision::kPause, "pause"},
}};

}  // namespace

std::string_view ToString(TrialState state) { return WordOf(kTrialStates, state); }
std::optional<TrialState> ParseTrialState(std::string_view word) {
  return ValueOf(kTrialStates, word);
}
std::string_view ToString(AttemptState state) { return WordOf(kAttemptStates, state); }
std::optional<AttemptState> ParseAttemptState(std::string_view word) {
  return ValueOf(kAttemptStates, word);
}
std::string_view ToString(ExitCause cause) { return WordOf(kExitCauses, cause); }
std::optional<ExitCause> ParseExitCause(std::string_view word) {
  return ValueOf(kExitCauses, word);
}
std::string_view ToString(Decision decision) { return WordOf(kDecisions, decision); }
std::optional<Decision> ParseDecision(std::string_view word) { return ValueOf(kDecisions, word); }

}  // namespace rung
