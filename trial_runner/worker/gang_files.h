#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/trial.h"

/// What must be on the disk before a gang can start.
namespace rung::worker {

struct GangFiles {
  std::string program;  ///< of its command
  std::string working_dir;
  std::string search_path;  ///< the value of PATH
  std::string resume_from;  ///< a checkpoint's path; empty: from step 0
  std::string checkpoint_folder;
  std::string log_folder;
  /// What the disks of both folders must have free. A rank writes to its log itself, and where that
  /// cannot take a line the trial fails by no fault of its own.
  uint64_t free_bytes_min = 1 << 20;
};

/// Why a gang cannot start; the causes as in LaunchFailed.
struct StartFailure {
  ExitCause cause = ExitCause::kCouldNotStart;
  std::string message;
};

/// Looks for the program, makes the folders, looks at their disks and verifies the checkpoint.
/// nullopt: all is there. May take as long as the disk does.
std::optional<StartFailure> PrepareFiles(const GangFiles& files);

}  // namespace rung::worker
