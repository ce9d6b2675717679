#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "storage/row_codec.h"
#include "storage/sqlite_status.h"

namespace rung {

/// Read-only connections to one database file, each lent to one read at a time. Thread-safe.
class ReaderPool {
 public:
  /// `read_timeout` bounds both the wait for a connection and the read; `connections_max` ≥ 1.
  ReaderPool(std::string path, std::chrono::milliseconds read_timeout, int connections_max);

  /// Calls `read(SQLite::Database&)`, which returns an absl::StatusOr and may throw what SQLiteCpp
  /// and row_codec throw, on one snapshot.
  /// Errors: those of `read` and ToStatus; DEADLINE_EXCEEDED after read_timeout; UNAVAILABLE
  /// if no connection came free within it.
  template <typename Function>
  std::invoke_result_t<Function, SQLite::Database&> Read(Function read) {
    auto connection = Acquire();
    if (!connection.ok()) return connection.status();
    SQLite::Database& database = (*connection)->database;
    try {
      database.exec("BEGIN");
      auto result = read(database);
      database.exec("COMMIT");
      Release(*std::move(connection));
      return result;
    } catch (const SQLite::Exception& error) {
      absl::Status status = ToStatus(error, database);
      Release(nullptr);
      return status;
    } catch (const MalformedRow& error) {
      Release(nullptr);
      return absl::DataLossError("database " + path_ + ": " + error.what());
    }
  }

 private:
  struct Connection {
    explicit Connection(const std::string& path);
    SQLite::Database database;
    std::chrono::steady_clock::time_point deadline;
  };

  absl::StatusOr<std::unique_ptr<Connection>> Acquire();
  /// Makes room for another read; a null connection was given up after an error.
  void Release(std::unique_ptr<Connection> connection);

  const std::string path_;
  const std::chrono::milliseconds read_timeout_;
  const int connections_max_;
  std::mutex mutex_;
  std::condition_variable freed_;
  int lent_ = 0;                                   // guarded by mutex_
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
};

}  // namespace rung
