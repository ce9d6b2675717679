#include "trial_runner/launch/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "trial_runner/shim/machine_error.h"

namespace rung {
namespace {

bool IsExecutableFile(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

std::string Within(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace

absl::StatusOr<std::string> FindProgram(std::string_view program, const std::string& working_dir,
                                        std::string_view search_path) {
  std::error_code error;
  if (!std::filesystem::is_directory(working_dir, error)) {
    if (IsMachineError(error.value())) {
      return absl::UnavailableError(
          fmt::format("trial.working_dir '{}': {}", working_dir, error.message()));
    }
    return absl::NotFoundError(
        fmt::format("trial.working_dir: there is no folder '{}' here", working_dir));
  }
  if (program.find('/') != std::string_view::npos) {
    const std::string path = Within(working_dir, program);
    if (IsExecutableFile(path)) return path;
    if (!std::filesystem::exists(path, error)) {
      return absl::NotFoundError(fmt::format("trial.command[0]: there is no file '{}' here", path));
    }
    return absl::PermissionDeniedError(
        fmt::format("trial.command[0]: '{}' is not an executable file", path));
  }
  for (size_t begin = 0; begin <= search_path.size();) {
    const size_t end = std::min(search_path.find(':', begin), search_path.size());
    // An empty entry of PATH is the current folder.
    const std::string folder = Within(working_dir, search_path.substr(begin, end - begin));
    if (const std::string path = Within(folder, program); IsExecutableFile(path)) return path;
    begin = end + 1;
  }
  return absl::NotFoundError(
      fmt::format("trial.command[0]: no executable file '{}' in PATH '{}'", program, search_path));
}

}  // namespace rung
