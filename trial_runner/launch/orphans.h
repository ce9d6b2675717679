#pragma once

#include <sys/types.h>

#include <string>

/// What a killed shim leaves behind.
namespace rung {

/// Kills and reaps what the rank of a shim left when that shim was killed, with all that descends
/// from it. The rank itself dies with its shim, but its helpers are handed to this process, if it
/// is a child subreaper (or process 1). Call it when the shim has been reaped.
///
/// Children that this process did not get from that rank are spared: those it had before it became
/// the daemon, those that process 1 adopts, and other shims. A process is of the rank when it is in
/// the shim's session, or was started with `RUNG_SOCKET=socket_path` in its environment; one that
/// has left the session and cleared its environment is not recognised.
void KillOrphans(pid_t shim, const std::string& socket_path);

}  // namespace rung
