#pragma once

#include <SQLiteCpp/Database.h>
#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <string_view>

/// The versions of the database file.
///
/// `user_version` counts the migrations that a file has been through; `application_id` tells a
/// database of rung from any other.
namespace rung {

inline constexpr int32_t kApplicationId = 0x72756e67;  // "rung"

/// The SQL of storage/migrations/*.sql, in order, embedded at build time: migration i leads to
/// version i + 1.
std::span<const std::string_view> Migrations();

/// What this program writes.
inline int32_t LatestSchemaVersion() { return static_cast<int32_t>(Migrations().size()); }

/// Brings a database to the latest version, each migration with its version number in one
/// transaction. An empty file becomes a database of rung.
///
/// Errors: FAILED_PRECONDITION if the file is of a newer version or not rung's, with its path; it
/// is unchanged then. Throws SQLite::Exception.
absl::Status Migrate(SQLite::Database& database);

/// For readers: whether the file is of exactly the latest version.
/// Errors: FAILED_PRECONDITION as above, or if a scheduler has yet to migrate the file. Throws
/// SQLite::Exception.
absl::Status CheckSchema(SQLite::Database& database);

}  // namespace rung
