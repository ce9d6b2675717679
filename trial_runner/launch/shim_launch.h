#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

/// Starts one rung-shim, which starts one rank (trial_runner/shim/shim.h has their protocol).
namespace rung {

struct ShimLaunch {
  std::string shim_path;                 ///< the program rung-shim
  std::vector<std::string> command;      ///< the rank's argument list, not empty
  std::string working_dir;               ///< of the rank
  std::vector<std::string> environment;  ///< `NAME=value`, complete
  std::string stdout_path;               ///< created or appended to, mode 0600
  std::string stderr_path;
  /// A lock that the shim holds as long as it lives, by inheriting it; −1: none.
  int lock_fd = -1;
  int64_t descriptors_max = 0;  ///< the rank's soft limit of open descriptors; 0: the daemon's own
};

struct LaunchedShim {
  pid_t pid = -1;
  int control_fd = -1;  ///< stream socket, non-blocking, closed on exec; the caller closes it
};

/// By posix_spawn: its cost does not grow with the daemon's memory. The shim leads a session of its
/// own, has default signal dispositions, /dev/null as standard input, and inherits no descriptor
/// but its control connection and the lock; the rank inherits neither. Call it from a thread that
/// lives as long as the shim. Errors: INVALID_ARGUMENT when command and environment are longer than
/// the system takes, else INTERNAL or RESOURCE_EXHAUSTED with its reason.
absl::StatusOr<LaunchedShim> LaunchShim(const ShimLaunch& launch);

}  // namespace rung
