#include "trial_runner/shim/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace rung {
namespace {

struct ProcessEntry {
  pid_t pid = 0;
  char name[16] = "";  // the kernel keeps 15 bytes
  pid_t parent = 0;
  char state = '?';
  bool descends = false;
};

/// `12 (a name (with) brackets) S 3 …`: the name ends at the last bracket.
bool ReadEntry(pid_t pid, ProcessEntry& entry) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[512];
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* end_of_name = std::strrchr(text, ')');
  if (end_of_name == nullptr) return false;
  entry.pid = pid;
  const char* name = std::strchr(text, '(');
  if (name == nullptr || name > end_of_name) return false;
  const auto length = std::min(static_cast<size_t>(end_of_name - name - 1), sizeof entry.name - 1);
  std::memcpy(entry.name, name + 1, length);
  return std::sscanf(end_of_name + 1, " %c %d", &entry.state, &entry.parent) == 2;
}

std::vector<ProcessEntry> ReadProcesses() {
  std::vector<ProcessEntry> processes;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return processes;
  while (const dirent* item = readdir(folder)) {
    char* end = nullptr;
    const long pid = std::strtol(item->d_name, &end, 10);
    ProcessEntry entry;
    if (pid > 0 && *end == '\0' && ReadEntry(static_cast<pid_t>(pid), entry)) {
      processes.push_back(entry);
    }
  }
  closedir(folder);
  return processes;
}

}  // namespace

std::vector<pid_t> LivingDescendants(pid_t root) {
  std::vector<ProcessEntry> processes = ReadProcesses();
  std::vector<pid_t> frontier{root};
  std::vector<pid_t> living;
  while (!frontier.empty()) {
    const pid_t parent = frontier.back();
    frontier.pop_back();
    for (ProcessEntry& entry : processes) {
      if (entry.parent != parent || entry.descends) continue;
      entry.descends = true;
      frontier.push_back(entry.pid);
      if (entry.state != 'Z' && entry.state != 'X') living.push_back(entry.pid);
    }
  }
  return living;
}

void KillOrphans() {
  constexpr int kPassesMax = 1'000;
  constexpr useconds_t kPassUs = 1'000;
  for (int pass = 0; pass < kPassesMax; ++pass) {
    bool found = false;
    for (const ProcessEntry& entry : ReadProcesses()) {
      if (entry.parent != getpid() || std::strcmp(entry.name, "rung-shim") == 0) continue;
      found = true;
      for (const pid_t pid : LivingDescendants(entry.pid)) kill(pid, SIGKILL);
      kill(entry.pid, SIGKILL);
      waitpid(entry.pid, nullptr, WNOHANG);
    }
    if (!found) return;
    usleep(kPassUs);
  }
}

}  // namespace rung
