#include "trial_runner/shim/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace rung {
namespace {

struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
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
  return std::sscanf(end_of_name + 1, " %*c %d", &entry.parent) == 1;
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

std::vector<pid_t> Descendants(pid_t root) {
  std::vector<ProcessEntry> processes = ReadProcesses();
  std::vector<pid_t> frontier{root};
  std::vector<pid_t> descendants;
  while (!frontier.empty()) {
    const pid_t parent = frontier.back();
    frontier.pop_back();
    for (ProcessEntry& entry : processes) {
      if (entry.parent != parent || entry.descends) continue;
      entry.descends = true;
      frontier.push_back(entry.pid);
      descendants.push_back(entry.pid);
    }
  }
  return descendants;
}

std::vector<pid_t> Children(pid_t parent) {
  std::vector<pid_t> children;
  for (const ProcessEntry& entry : ReadProcesses()) {
    if (entry.parent == parent) children.push_back(entry.pid);
  }
  return children;
}

}  // namespace rung
