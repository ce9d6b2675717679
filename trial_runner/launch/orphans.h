#pragma once

/// What a killed shim leaves behind.
namespace rung {

/// Kills and reaps the children of this process that are no rung-shim, and all that descends from
/// them. When a shim is killed its rank dies with it, but helpers that left the rank's session are
/// handed to the daemon, if that is a child subreaper. For a process whose own children are shims.
void KillOrphans();

}  // namespace rung
