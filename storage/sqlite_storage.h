#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "storage/storage.h"

/// The database file `rung.db` (INTERFACES.md §4, docs/database.md).
namespace rung {

struct SqliteOptions {
  /// How long a commit waits for another program that writes to the file (a `sqlite3` shell).
  std::chrono::milliseconds busy_timeout{1000};
  /// Largest size of the file in pages of 4096 bytes, as if the disk were full then; 0: no limit.
  int64_t pages_max = 0;
};

/// The one writer of a database file, in WAL mode with synchronous=FULL: a commit returns when the
/// disk has it, and readers (DatabaseReader, the `sqlite3` shell) never wait for it nor it for
/// them.
///
/// The WAL is checkpointed by SQLite's automatic passive checkpoint on this connection, every 1000
/// pages: that never waits for a reader, costs one commit in some hundreds a few milliseconds, and
/// leaves no thread or second writing connection to go wrong. A reader that stays on an old
/// snapshot only lets the WAL grow meanwhile; it is cut back to 64 MiB afterwards.
class SqliteStorage final : public Storage {
 public:
  /// Opens the database, or creates it with mode 0600 in its folder, and brings it to the latest
  /// schema. Nobody else can open it as storage until this object is gone.
  ///
  /// Errors: FAILED_PRECONDITION if another process has it open (with the process id), the folder
  /// is on a network file system, or the file is of a newer rung or none of rung's; NOT_FOUND if
  /// the folder is missing; DATA_LOSS if the file is corrupt; those of Storage.
  static absl::StatusOr<std::unique_ptr<SqliteStorage>> Open(const std::filesystem::path& path,
                                                             const SqliteOptions& options = {});
  ~SqliteStorage() override;

  absl::Status Commit(const WriteBatch& batch) override;
  absl::StatusOr<Snapshot> Load() override;
  absl::StatusOr<std::vector<MetricRow>> LoadObjective(ExperimentId experiment) override;

 private:
  class Connection;
  explicit SqliteStorage(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace rung
