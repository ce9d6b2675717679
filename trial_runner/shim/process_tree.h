#pragma once

#include <sys/types.h>

#include <vector>

/// Which processes descend from one, by the parents that /proc tells.
///
/// Sessions and process groups cannot answer that: a helper may have called setsid or forked twice.
/// Below a subreaper (PR_SET_CHILD_SUBREAPER) every orphan is handed to it, so that the chain of
/// parents never breaks. /proc/PID/task/*/children would be shorter but needs a kernel option.
namespace rung {

/// The descendants of `root` that still run, in no order; zombies are left out, since nothing is
/// left of them but a status. A snapshot: a process that forks meanwhile may be missed, so callers
/// that kill look again until it is empty.
std::vector<pid_t> LivingDescendants(pid_t root);

/// The children of `parent`, zombies included.
std::vector<pid_t> Children(pid_t parent);

}  // namespace rung
