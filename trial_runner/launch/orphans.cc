#include "trial_runner/launch/orphans.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "trial_runner/shim/process_tree.h"

namespace rung {
namespace {

constexpr int kPassesMax = 1'000;
constexpr useconds_t kPassUs = 1'000;

bool IsShim(pid_t pid) {
  std::string name;
  std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
  return name == "rung-shim";
}

}  // namespace

void KillOrphans() {
  for (int pass = 0; pass < kPassesMax; ++pass) {
    bool found = false;
    for (const pid_t child : Children(getpid())) {
      if (IsShim(child)) continue;
      found = true;
      for (const pid_t pid : Descendants(child)) kill(pid, SIGKILL);
      kill(child, SIGKILL);
      waitpid(child, nullptr, WNOHANG);
    }
    if (!found) return;
    usleep(kPassUs);
  }
}

}  // namespace rung
