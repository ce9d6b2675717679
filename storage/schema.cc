#include "storage/schema.h"

#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <string>

#include "core/check.h"

namespace rung {
namespace {

int32_t Version(SQLite::Database& database) {
  return database.execAndGet("PRAGMA user_version").getInt();
}

absl::Status CheckOrigin(SQLite::Database& database) {
  const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
  if (!empty && database.execAndGet("PRAGMA application_id").getInt() != kApplicationId) {
    return absl::FailedPreconditionError(
        fmt::format("{} is an SQLite database, but not one of rung: name another file",
                    database.getFilename()));
  }
  if (Version(database) > LatestSchemaVersion()) {
    return absl::FailedPreconditionError(
        fmt::format("database {} has schema version {}, this program (rung " RUNG_VERSION
                    ") knows versions up to {}: use the newer rung that wrote it",
                    database.getFilename(), Version(database), LatestSchemaVersion()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Migrate(SQLite::Database& database) {
  RUNG_RETURN_IF_ERROR(CheckOrigin(database));
  for (int32_t version = Version(database); version < LatestSchemaVersion(); ++version) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    database.exec(std::string(Migrations()[static_cast<size_t>(version)]));
    database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    database.exec(fmt::format("PRAGMA user_version = {}", version + 1));
    transaction.commit();
  }
  return absl::OkStatus();
}

absl::Status CheckSchema(SQLite::Database& database) {
  RUNG_RETURN_IF_ERROR(CheckOrigin(database));
  if (Version(database) < LatestSchemaVersion()) {
    return absl::FailedPreconditionError(
        fmt::format("database {} has schema version {}, this program reads version {}: start "
                    "rung-scheduler on it once, which upgrades it",
                    database.getFilename(), Version(database), LatestSchemaVersion()));
  }
  return absl::OkStatus();
}

}  // namespace rung
