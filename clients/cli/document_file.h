#pragma once

#include <absl/status/statusor.h>

#include <string>

/// The experiment document as the command line names it. It is read and checked by the service.
namespace rung::cli {

struct DocumentFile {
  std::string text;
  std::string working_dir;  ///< absolute: the file's own folder, or the current one for "-"
};

/// Reads FILE, or standard input for "-"; at most 4 MiB (gRPC's limit of a message).
/// Errors: NOT_FOUND, FAILED_PRECONDITION for a folder or a file that is too long.
absl::StatusOr<DocumentFile> ReadDocument(const std::string& file);

}  // namespace rung::cli
