#pragma once

#include <optional>
#include <string_view>

/// States of a trial and of its attempts.
namespace rung {

///   (created) ─▶ Queued ◀──────────────────────────────┐
///                  │ placed                            │ retry after a failure, lost, preempted
///                  ▼                                   │
///                Running ──────────────────────────────┤
///                  │ pause at a rung ─▶ Paused ────────┘ promoted
///                  ├─▶ Completed  exit 0, max_t, or finished by its client
///                  ├─▶ Stopped    by a rule (or not_promoted, from Paused)
///                  └─▶ Failed     more failures than max_failures, or lost_repeatedly
///   Paused ─▶ Completed, Stopped  at its promotion, by what it reported after it had paused
///   any that is not final ─▶ Cancelled  by rung stop, a limit, or the end of its experiment
enum class TrialState { kQueued, kRunning, kPaused, kCompleted, kStopped, kFailed, kCancelled };

///   Assigned ─▶ Starting ─▶ Running ─▶ Stopping ─▶ Exited
///   Assigned, Starting ─▶ Exited (could not start)      Running ─▶ Exited (by itself)
///   each of the first four ─▶ Lost (its lease expired: the machine or the network failed)
enum class AttemptState { kAssigned, kStarting, kRunning, kStopping, kExited, kLost };

/// Why an attempt is no more.
enum class ExitCause {
  kCompleted,      ///< every rank exited with status 0
  kFailed,         ///< a rank exited otherwise, or by a signal that we did not send
  kStopped,        ///< ended after a stop or pause decision, rung stop, or max_t
  kCouldNotStart,  ///< the worker's machine could not: neither failure nor loss
  kRefused,        ///< the worker lacks the folder or the program: neither failure nor loss
  kLost,           ///< the lease expired, or its checkpoint is damaged or missing
};

/// What a trial is told after a report.
enum class Decision { kContinue, kStop, kPause };

constexpr bool IsFinal(TrialState state) {
  switch (state) {
    case TrialState::kQueued:
    case TrialState::kRunning:
    case TrialState::kPaused:
      return false;
    case TrialState::kCompleted:
    case TrialState::kStopped:
    case TrialState::kFailed:
    case TrialState::kCancelled:
      return true;
  }
  return true;
}

constexpr bool IsFinal(AttemptState state) {
  switch (state) {
    case AttemptState::kAssigned:
    case AttemptState::kStarting:
    case AttemptState::kRunning:
    case AttemptState::kStopping:
      return false;
    case AttemptState::kExited:
    case AttemptState::kLost:
      return true;
  }
  return true;
}

/// The lower-case words of the database, the socket and the CLI; nullopt for any other word.
std::string_view ToString(TrialState state);
std::optional<TrialState> ParseTrialState(std::string_view word);
std::string_view ToString(AttemptState state);
std::optional<AttemptState> ParseAttemptState(std::string_view word);
std::string_view ToString(ExitCause cause);
std::optional<ExitCause> ParseExitCause(std::string_view word);
std::string_view ToString(Decision decision);
std::optional<Decision> ParseDecision(std::string_view word);

}  // namespace rung
