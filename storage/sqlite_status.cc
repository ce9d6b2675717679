#include "storage/sqlite_status.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <string>

namespace rung {
namespace {

absl::StatusCode CodeOf(int sqlite_code, int system_errno) {
  switch (sqlite_code & 0xff) {  // the low byte of an extended code is the primary one
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_IOERR:  // a full disk met while growing the -shm file, or a quota, comes this way
      return system_errno == ENOSPC || system_errno == EDQUOT ? absl::StatusCode::kResourceExhausted
                                                              : absl::StatusCode::kUnavailable;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_CANTOPEN:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_INTERRUPT:
      return absl::StatusCode::kDeadlineExceeded;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status Make(const SQLite::Exception& error, int system_errno, const std::string& path) {
  return absl::Status(CodeOf(error.getErrorCode(), system_errno),
                      fmt::format("database {}: {} (SQLite code {})", path, error.what(),
                                  error.getExtendedErrorCode()));
}

}  // namespace

absl::Status ToStatus(const SQLite::Exception& error, const SQLite::Database& database) {
  return Make(error, sqlite3_system_errno(database.getHandle()), database.getFilename());
}

absl::Status ToStatus(const SQLite::Exception& error, const std::string& path) {
  return Make(error, 0, path);
}

}  // namespace rung
