#pragma once

namespace bert {

/// SIGTERM and SIGINT ask this process to end at its next step boundary.
class StopSignal {
 public:
  /// Takes over both signals for the rest of the process.
  static void Install();
  static bool Requested();
  /// The exit status of a process that a signal has ended, 128 + signal: it has not completed, and
  /// only who sent the signal can take it for that. Of one whose peer was signalled as if it were.
  static int ExitStatus();
};

}  // namespace bert
