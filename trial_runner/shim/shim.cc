#include "trial_runner/shim/shim.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "trial_runner/shim/machine_error.h"
#include "trial_runner/shim/process_tree.h"

namespace rung {
namespace {

constexpr size_t kCommandBytesMax = 64;
constexpr int kKillPollMsMax = 200;
constexpr int kKillPassesAtOnce = 20;

enum class StartStep : int { kParent, kFolder, kProgram };
struct StartFailure {
  StartStep step;
  int error;
};

sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

/// The rank gets neither the control connection nor the daemon's lock. False, with errno: it would.
bool HideDescriptors() {
  constexpr int kFirst = 3;
  if (close_range(kFirst, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return true;
  // Before Linux 5.11, or forbidden by a sandbox.
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return false;
  bool hidden = true;
  while (const dirent* item = readdir(folder)) {
    const int fd = std::atoi(item->d_name);
    if (fd >= kFirst && fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) hidden = false;
  }
  closedir(folder);
  return hidden;
}

/// Sets the soft limit; 0: leaves it. False, with errno, when it cannot be set.
bool LimitDescriptors(int64_t descriptors_max) {
  if (descriptors_max == 0) return true;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  limit.rlim_cur = std::min(static_cast<rlim_t>(descriptors_max), limit.rlim_max);
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/// In the forked child; only async-signal-safe calls.
[[noreturn]] void BecomeRank(pid_t shim, const char* working_dir, char* const argv[],
                             int failure_fd) {
  StartFailure failure{StartStep::kParent, 0};
  // A group of its own: a trial's `kill 0` must not reach the shim.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == shim) {  // else the shim died before the line above
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    failure.step = StartStep::kFolder;
    if (*working_dir == '\0' || chdir(working_dir) == 0) {
      failure.step = StartStep::kProgram;
      execvp(argv[0], argv);
    }
    failure.error = errno;
  }
  const ssize_t written = write(failure_fd, &failure, sizeof failure);
  _exit(written == sizeof failure ? 127 : 126);
}

constexpr const char* kCouldNotStart = "could not start: ";
constexpr const char* kCouldNotStartHere = "could not start here: ";

/// The line of a failure that is this machine's, with errno.
std::string NotHere(const char* what) {
  const char* reason = std::strerror(errno);
  return std::string(kCouldNotStartHere) + what + ": " + reason;
}

/// The line of a failure.
std::string Describe(const StartFailure& failure, const char* working_dir, const char* program) {
  const std::string reason = std::strerror(failure.error);
  const std::string line = IsMachineError(failure.error) ? kCouldNotStartHere : kCouldNotStart;
  switch (failure.step) {
    case StartStep::kParent:
      return std::string(kCouldNotStartHere) + "the parent process ended";
    case StartStep::kFolder:
      return line + "folder '" + working_dir + "': " + reason;
    case StartStep::kProgram:
      return line + "program '" + program + "': " + reason;
  }
  return line + reason;
}

}  // namespace

int Shim::Run(const char* working_dir, char* const argv[]) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t signals = WatchedSignals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);

  if (const std::string failure = Start(working_dir, argv); !failure.empty()) {
    Say(failure);
    return 1;
  }
  Say("started " + std::to_string(leader_));
  while (true) {
    pollfd fds[2] = {{.fd = signal_fd_, .events = POLLIN, .revents = 0},
                     {.fd = control_open_ ? control_fd_ : -1, .events = POLLIN, .revents = 0}};
    poll(fds, 2, PollTimeoutMs());
    if (fds[0].revents != 0) OnSignal();
    if (fds[1].revents != 0) OnControl();
    if (kill_at_ && Clock::now() >= *kill_at_) killing_ = true;
    if (killing_ && KillEverything()) break;
  }
  Say("empty");
  close(signal_fd_);
  return 0;
}

std::string Shim::Start(const char* working_dir, char* const argv[]) {
  if (!HideDescriptors() || !LimitDescriptors(descriptors_max_)) {
    return NotHere("descriptors");
  }
  int failure_pipe[2];
  if (pipe2(failure_pipe, O_CLOEXEC) != 0) return NotHere("pipe");
  const pid_t shim = getpid();
  leader_ = fork();
  if (leader_ == 0) BecomeRank(shim, working_dir, argv, failure_pipe[1]);
  const int fork_error = errno;
  close(failure_pipe[1]);
  StartFailure failure{};
  ssize_t size = 0;
  if (leader_ > 0) {
    do {
      size = read(failure_pipe[0], &failure, sizeof failure);  // 0: exec closed the other end
    } while (size < 0 && errno == EINTR);
  }
  close(failure_pipe[0]);
  if (leader_ < 0) {
    errno = fork_error;
    return NotHere("fork");
  }
  if (size != sizeof failure) return "";
  waitpid(leader_, nullptr, 0);
  return Describe(failure, working_dir, argv[0]);
}

void Shim::OnControl() {
  char buffer[256];
  const ssize_t size = read(control_fd_, buffer, sizeof buffer);
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size > 0) control_buffer_.append(buffer, static_cast<size_t>(size));
  if (size <= 0 || control_buffer_.size() > kCommandBytesMax) {
    control_open_ = false;
    BeginOrphanEnd();
    return;
  }
  for (size_t end; (end = control_buffer_.find('\n')) != std::string::npos;) {
    OnCommand(control_buffer_.substr(0, end));
    control_buffer_.erase(0, end + 1);
  }
}

void Shim::OnCommand(const std::string& command) {
  if (command == "term" && !leader_gone_) kill(leader_, SIGTERM);
  if (command == "kill") killing_ = true;
}

void Shim::OnSignal() {
  signalfd_siginfo info;
  while (read(signal_fd_, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGCHLD) BeginOrphanEnd();
  }
  ReapChildren();
}

void Shim::ReapChildren() {
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != leader_) continue;
    leader_gone_ = true;
    killing_ = true;  // after its leader nothing of a rank is legitimate
    Say(WIFSIGNALED(status) ? "exited signal " + std::to_string(WTERMSIG(status))
                            : "exited code " + std::to_string(WEXITSTATUS(status)));
  }
}

void Shim::BeginOrphanEnd() {
  if (kill_at_ || killing_) return;
  if (!leader_gone_) kill(leader_, SIGTERM);
  kill_at_ = Clock::now() + kOrphanGrace;
}

bool Shim::KillEverything() {
  for (int pass = 0; pass < kKillPassesAtOnce; ++pass) {
    const std::vector<pid_t> left = Descendants(getpid());
    for (const pid_t pid : left) kill(pid, SIGKILL);
    ReapChildren();
    if (left.empty()) break;
  }
  kill_poll_ms_ = std::min(kill_poll_ms_ * 2, kKillPollMsMax);
  // Only wait knows who is dead. ECHILD: not even a zombie is left, so the leader's exit is told.
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

int Shim::PollTimeoutMs() const {
  if (killing_) return kill_poll_ms_;
  if (!kill_at_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

void Shim::Say(const std::string& line) {
  if (!control_open_) return;
  const std::string text = line + "\n";
  // The daemon reads at once and a rank says a few lines in all, so the buffer never fills.
  [[maybe_unused]] const ssize_t sent =
      send(control_fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace rung
