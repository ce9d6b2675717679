#include "trial_runner/launch/shim_launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/check.h"

namespace rung {
namespace {

constexpr int kControlFd = 3;
constexpr int kLockFd = 4;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  // posix_spawn takes char* for the sake of C; it does not write to them.
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Closed at the end of its scope.
struct Descriptor {
  Descriptor() = default;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int fd = -1;
};

/// File actions and attributes of one spawn, destroyed with it.
class SpawnPlan {
 public:
  /// `lock_fd`: above the numbers that the actions write to; −1: none.
  SpawnPlan(const ShimLaunch& launch, int shim_control_fd, int lock_fd) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
    posix_spawn_file_actions_addopen(&actions_, 1, launch.stdout_path.c_str(), kAppend, 0600);
    posix_spawn_file_actions_addopen(&actions_, 2, launch.stderr_path.c_str(), kAppend, 0600);
    posix_spawn_file_actions_adddup2(&actions_, shim_control_fd, kControlFd);
    const bool locks = lock_fd >= 0;
    if (locks) posix_spawn_file_actions_adddup2(&actions_, lock_fd, kLockFd);
    posix_spawn_file_actions_addclosefrom_np(&actions_, locks ? kLockFd + 1 : kLockFd);

    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

absl::StatusOr<LaunchedShim> LaunchShim(const ShimLaunch& launch) {
  RUNG_CHECK(!launch.command.empty());
  Descriptor lock;
  if (launch.lock_fd >= 0) {
    lock.fd = fcntl(launch.lock_fd, F_DUPFD_CLOEXEC, kLockFd + 1);
    // A shim without the lock would let a later worker give the rank's GPUs to others.
    if (lock.fd < 0) {
      return absl::ResourceExhaustedError(fmt::format("lock of a rank: {}", std::strerror(errno)));
    }
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::ResourceExhaustedError(
        fmt::format("control connection of a rank: {}", std::strerror(errno)));
  }
  const SpawnPlan plan(launch, sockets[1], lock.fd);
  std::vector<std::string> arguments{launch.shim_path, std::to_string(kControlFd),
                                     std::to_string(launch.descriptors_max), launch.working_dir};
  arguments.insert(arguments.end(), launch.command.begin(), launch.command.end());

  LaunchedShim shim{.pid = -1, .control_fd = sockets[0]};
  const int error =
      posix_spawn(&shim.pid, launch.shim_path.c_str(), plan.actions(), plan.attributes(),
                  Pointers(arguments).data(), Pointers(launch.environment).data());
  close(sockets[1]);
  if (error != 0) {
    close(sockets[0]);
    if (error == E2BIG) {
      return absl::InvalidArgumentError("trial.command and trial.env are longer than exec takes");
    }
    return absl::InternalError(fmt::format("could not start '{}' (log '{}'): {}", launch.shim_path,
                                           launch.stdout_path, std::strerror(error)));
  }
  fcntl(shim.control_fd, F_SETFL, O_NONBLOCK);
  return shim;
}

}  // namespace rung
