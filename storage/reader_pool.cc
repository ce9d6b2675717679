#include "storage/reader_pool.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "core/check.h"

namespace rung {
namespace {

constexpr int kBusyTimeoutMs = 1000;             // only met while another process recovers the WAL
constexpr int kInstructionsBetweenLooks = 4000;  // some 100 µs

int IsPastDeadline(void* deadline) {
  return std::chrono::steady_clock::now() >
         *static_cast<std::chrono::steady_clock::time_point*>(deadline);
}

}  // namespace

ReaderPool::Connection::Connection(const std::string& path)
    : database(path, SQLite::OPEN_READONLY, kBusyTimeoutMs) {
  sqlite3_progress_handler(database.getHandle(), kInstructionsBetweenLooks, &IsPastDeadline,
                           &deadline);
}

ReaderPool::ReaderPool(std::string path, std::chrono::milliseconds read_timeout,
                       int connections_max)
    : path_(std::move(path)), read_timeout_(read_timeout), connections_max_(connections_max) {
  RUNG_CHECK(connections_max_ >= 1);
}

absl::StatusOr<std::unique_ptr<ReaderPool::Connection>> ReaderPool::Acquire() {
  std::unique_ptr<Connection> connection;
  {
    std::unique_lock lock(mutex_);
    if (!freed_.wait_for(lock, read_timeout_, [&] { return lent_ < connections_max_; })) {
      return absl::UnavailableError(
          fmt::format("{} reads of the database are running already: try again", connections_max_));
    }
    ++lent_;
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  try {
    if (connection == nullptr) connection = std::make_unique<Connection>(path_);
  } catch (const SQLite::Exception& error) {
    Release(nullptr);
    return ToStatus(error, path_);
  }
  connection->deadline = std::chrono::steady_clock::now() + read_timeout_;
  return connection;
}

void ReaderPool::Release(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  --lent_;
  if (connection != nullptr) idle_.push_back(std::move(connection));
  freed_.notify_one();
}

}  // namespace rung
