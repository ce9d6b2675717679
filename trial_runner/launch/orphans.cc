#include "trial_runner/launch/orphans.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "trial_runner/shim/process_tree.h"

namespace rung {
namespace {

constexpr int kPassesMax = 1'000;
constexpr useconds_t kPassUs = 1'000;

/// Whether the process was started with `variable` (`NAME=value`). Any thread tells: the main one
/// has no environment any more when it has ended.
bool StartedWith(pid_t pid, const std::string& variable) {
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/" + std::to_string(pid) + "/task", error);
       !error && task != std::filesystem::directory_iterator(); task.increment(error)) {
    std::ifstream environment(task->path() / "environ");
    for (std::string found; std::getline(environment, found, '\0');) {
      if (found == variable) return true;
    }
  }
  return false;
}

}  // namespace

void KillOrphans(pid_t shim, const std::string& socket_path) {
  const std::string variable = "RUNG_SOCKET=" + socket_path;
  std::set<pid_t> of_rank;  // a process that is about to be dead cannot be recognised any more
  for (int pass = 0; pass < kPassesMax; ++pass) {
    bool found = false;
    for (const pid_t child : Children(getpid())) {
      if (getsid(child) == shim || StartedWith(child, variable)) of_rank.insert(child);
      if (!of_rank.contains(child)) continue;
      found = true;
      for (const pid_t pid : Descendants(child)) kill(pid, SIGKILL);
      kill(child, SIGKILL);
      if (waitpid(child, nullptr, WNOHANG) == child) of_rank.erase(child);
    }
    if (!found) return;
    usleep(kPassUs);
  }
}

}  // namespace rung
