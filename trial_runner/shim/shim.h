#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

/// The tiny parent of one rank: it outlives nothing that it started.
///
/// It is a session leader (its spawner says so) and a child subreaper, so every process that the
/// rank leaves behind becomes its child and can be found and killed, also after setsid or a double
/// fork. The rank has PR_SET_PDEATHSIG: it dies with the shim.
///
/// It talks lines over a stream socket (the control connection) to the daemon:
///   to the shim    `term`   SIGTERM to the rank leader only: signalling the group would kill
///                           data-loading helpers first and lose the checkpoint
///                  `kill`   SIGKILL to everything
///   from the shim  `started PID`, or `could not start: TEXT` and nothing after it; `could not
///                  start here: TEXT` when the reason is the machine's (machine_error.h)
///                  `exited code N` | `exited signal N`: the leader; what it left is killed next
///                  `empty`: no process is left; the shim ends
/// When the connection breaks (the daemon is gone), or on SIGTERM, SIGINT or SIGHUP to the shim
/// itself: SIGTERM to the leader, `kOrphanGrace`, SIGKILL to everything.
namespace rung {

constexpr std::chrono::milliseconds kOrphanGrace{2'000};

class Shim {
 public:
  using Clock = std::chrono::steady_clock;

  /// `control_fd`: connected stream socket, owned by the caller; no descriptor but 0, 1 and 2 goes
  /// on to the rank. `descriptors_max`: the rank's soft limit of them; 0: this process's own.
  Shim(int control_fd, int64_t descriptors_max)
      : control_fd_(control_fd), descriptors_max_(descriptors_max) {}

  /// Starts `argv` (null-terminated; found by PATH) in `working_dir` (empty: the current one),
  /// watches it to its end, and returns when no descendant is left. Returns the exit status of the
  /// shim: 0, or 1 when the rank could not be started.
  int Run(const char* working_dir, char* const argv[]);

 private:
  /// Empty, or the line that says why the rank could not be started.
  std::string Start(const char* working_dir, char* const argv[]);
  void OnControl();
  void OnCommand(const std::string& command);
  void OnSignal();
  void ReapChildren();
  void BeginOrphanEnd();
  /// True when nothing is left.
  bool KillEverything();
  int PollTimeoutMs() const;
  void Say(const std::string& line);

  int control_fd_;
  int64_t descriptors_max_;
  int signal_fd_ = -1;
  bool control_open_ = true;
  std::string control_buffer_;
  pid_t leader_ = -1;
  bool leader_gone_ = false;
  bool killing_ = false;
  int kill_poll_ms_ = 1;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace rung
