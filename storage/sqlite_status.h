#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <absl/status/status.h>

/// Which failure of SQLite gets which treatment.
namespace rung {

/// `error` as a status that names the file. Call it before anything else is done with `database`.
///
/// RESOURCE_EXHAUSTED: disk or quota full, memory. UNAVAILABLE: busy, or input and output failed:
/// try again. DATA_LOSS: the file is corrupt, or no database. DEADLINE_EXCEEDED: interrupted.
/// PERMISSION_DENIED: not writable. INTERNAL: anything else, a bug of ours.
absl::Status ToStatus(const SQLite::Exception& error, const SQLite::Database& database);

/// As above where no connection came to be.
absl::Status ToStatus(const SQLite::Exception& error, const std::string& path);

}  // namespace rung
