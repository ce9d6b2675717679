#include "trial_runner/worker/gang_files.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <filesystem>

#include "trial_runner/launch/program.h"
#include "trial_runner/worker/checkpoint_manifest.h"

namespace rung::worker {
namespace {

StartFailure Failure(ExitCause cause, const absl::Status& status) {
  return {.cause = cause, .message = std::string(status.message())};
}

}  // namespace

std::optional<StartFailure> PrepareFiles(const GangFiles& files) {
  const absl::Status found =
      FindProgram(files.program, files.working_dir, files.search_path).status();
  if (!found.ok()) {
    const bool machine = absl::IsUnavailable(found);
    return Failure(machine ? ExitCause::kCouldNotStart : ExitCause::kRefused, found);
  }
  for (const std::string* folder : {&files.checkpoint_folder, &files.log_folder}) {
    std::error_code error;
    std::filesystem::create_directories(*folder, error);
    if (error) {
      return StartFailure{
          .message = fmt::format("cannot make the folder '{}': {}", *folder, error.message())};
    }
  }
  for (const std::string* folder : {&files.checkpoint_folder, &files.log_folder}) {
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(*folder, error);
    if (error || space.available >= files.free_bytes_min) continue;
    return StartFailure{.message =
                            fmt::format("the disk of '{}' is full: {} bytes are free, {} are "
                                        "needed",
                                        *folder, space.available, files.free_bytes_min)};
  }
  if (files.resume_from.empty()) return std::nullopt;
  // After the folder beside it: where the file server is away, the checkpoint is not to blame.
  const absl::Status verified = VerifyCheckpoint(files.resume_from);
  if (verified.ok()) return std::nullopt;
  const bool machine = absl::IsUnavailable(verified);
  return Failure(machine ? ExitCause::kCouldNotStart : ExitCause::kLost, verified);
}

}  // namespace rung::worker
