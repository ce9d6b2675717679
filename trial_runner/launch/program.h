#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

/// Whether this machine has what a trial needs, looked up as exec would do it.
namespace rung {

/// The file that `program` names: with a slash, that path (relative to `working_dir`); else the
/// first executable of that name in `search_path` (the value of PATH).
///
/// Errors: NOT_FOUND when the folder or the program is missing, PERMISSION_DENIED when the program
/// is no executable file, UNAVAILABLE when this machine cannot look at the moment; the message
/// names the path.
absl::StatusOr<std::string> FindProgram(std::string_view program, const std::string& working_dir,
                                        std::string_view search_path);

}  // namespace rung
