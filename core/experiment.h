#pragma once

#include <optional>
#include <string_view>

#include "core/word_table.h"

/// States of an experiment and what it optimises.
namespace rung {

enum class Goal { kMinimize, kMaximize };

/// Which of a trial's reports makes its value: the best reported, the last, or the one at max_t.
enum class BestBy { kBest, kLast, kMaxT };

///                 rung pause, nothing_works, max_failed_trials
///   (created) ─▶ Active ◀──────────────────────────────────────▶ Paused
///                  │    rung resume                                │
///                  │ no configuration left, or a limit, or         │ rung stop
///                  │ rung stop: attempts are being ended           │
///                  ▼                                               ▼
///                Stopping ◀────────────────────────────────────────┘
///                  │ the last attempt is final
///                  ├─▶ Completed  every configuration was tried
///                  ├─▶ Stopped    by rung stop or a limit
///                  └─▶ Failed     no trial completed
///
/// An experiment whose last attempt ends by itself passes through Stopping within one step.
enum class ExperimentState { kActive, kPaused, kStopping, kCompleted, kStopped, kFailed };

constexpr bool IsFinal(ExperimentState state) {
  switch (state) {
    case ExperimentState::kActive:
    case ExperimentState::kPaused:
    case ExperimentState::kStopping:
      return false;
    case ExperimentState::kCompleted:
    case ExperimentState::kStopped:
    case ExperimentState::kFailed:
      return true;
  }
  return true;
}

/// The lower-case words of the database, the documents and the CLI, as messages list them.
inline constexpr WordTable<Goal, 2> kGoalWords{
    {{Goal::kMinimize, "minimize"}, {Goal::kMaximize, "maximize"}}};
inline constexpr WordTable<BestBy, 3> kBestByWords{
    {{BestBy::kBest, "best"}, {BestBy::kLast, "last"}, {BestBy::kMaxT, "max_t"}}};

/// Such a word, and back; nullopt for any other word.
std::string_view ToString(ExperimentState state);
std::optional<ExperimentState> ParseExperimentState(std::string_view word);
std::string_view ToString(Goal goal);
std::optional<Goal> ParseGoal(std::string_view word);
std::string_view ToString(BestBy best_by);
std::optional<BestBy> ParseBestBy(std::string_view word);

}  // namespace rung
