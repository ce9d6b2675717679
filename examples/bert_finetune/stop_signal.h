#pragma once

namespace bert {

/// SIGTERM and SIGINT ask this process to end at its next step boundary.
class StopSignal {
 public:
  /// Takes over both signals for the rest of the process.
  static void Install();
  static bool Requested();
};

}  // namespace bert
