#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "core/metric.h"

/// `PATH.manifest.json` beside a checkpoint: its files and their sizes, so that a truncated one is
/// never resumed from. Checksums come with a later version.
namespace rung::worker {

struct WrittenCheckpoint {
  std::string path;   ///< absolute, without symbolic links
  int64_t bytes = 0;  ///< of all its files
};

/// Checks that `path` (absolute or relative to `folder`) names a file or folder inside `folder`,
/// brings its files, and the folders up to two above `folder`, to the disk (fsync) and writes the
/// manifest: when this returns, a checkpoint that verifies survives a power failure. May take as
/// long as the disk does.
/// Errors: INVALID_ARGUMENT for a path outside the folder, also by `..` or a symbolic link, for
/// what is neither file nor folder, and for a name that is not UTF-8; NOT_FOUND; RESOURCE_EXHAUSTED
/// beyond 10,000 files; INTERNAL with the system's reason.
absl::StatusOr<WrittenCheckpoint> WriteManifest(const std::string& folder, const std::string& path,
                                                Steps step);

/// Whether the checkpoint at `path` is what its manifest says.
/// Errors: NOT_FOUND without a manifest or a file of it, DATA_LOSS for another size or a manifest
/// that cannot be read, UNAVAILABLE when this machine cannot look.
absl::Status VerifyCheckpoint(const std::string& path);

}  // namespace rung::worker
