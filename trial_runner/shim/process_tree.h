#pragma once

#include <sys/types.h>

#include <vector>

/// Which processes descend from one, by the parents that /proc tells.
///
/// Sessions and process groups cannot answer that: a helper may have called setsid or forked twice.
/// Below a subreaper (PR_SET_CHILD_SUBREAPER) every orphan is handed to it, so that the chain of
/// parents never breaks. /proc/PID/task/*/children would be shorter but needs a kernel option.
namespace rung {

/// The descendants of `root`, in no order. Zombies are among them: a process whose main thread has
/// ended reads as one in /proc while its other threads run. A snapshot: a process that forks
/// meanwhile may be missed, so callers that kill look again until it is empty.
std::vector<pid_t> Descendants(pid_t root);

/// The children of `parent`, zombies among them.
std::vector<pid_t> Children(pid_t parent);

}  // namespace rung
