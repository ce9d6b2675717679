#include "storage/sqlite_storage.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/VariadicBind.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/check.h"
#include "storage/database_lock.h"
#include "storage/row_codec.h"
#include "storage/schema.h"
#include "storage/sqlite_status.h"

namespace rung {
namespace {

constexpr const char* kSupersedeSql =
    "UPDATE metrics SET superseded = 1 WHERE experiment_id = ? AND trial_number = ? AND attempt < ?"
    " AND step > ? AND superseded = 0";
constexpr const char* kActiveExperiments = " WHERE state IN ('active', 'paused', 'stopping')";
/// Numbers of the trials that may still report: not final, or with an attempt that is not.
constexpr const char* kReportingTrials =
    "SELECT number FROM trials WHERE experiment_id = ?1 AND state IN ('queued', 'running', "
    "'paused')"
    " UNION SELECT trial_number FROM attempts WHERE experiment_id = ?1"
    " AND state NOT IN ('exited', 'lost')";

/// Absolute, and with symbolic links followed, so that one file has one lock.
absl::StatusOr<std::filesystem::path> Resolve(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  if (error) {
    return absl::InvalidArgumentError(
        fmt::format("database path {}: {}", path.native(), error.message()));
  }
  return resolved;
}

/// SQLite would create the file with the umask's mode; the WAL and -shm files take this file's.
absl::Status CreatePrivately(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, fmt::format("cannot open database {}", path.native()));
  }
  close(fd);
  return absl::OkStatus();
}

template <typename Row>
std::string SelectSql() {
  return fmt::format("SELECT {} FROM ", Columns<Row>());
}

/// All rows that `statement` gives.
template <typename Row>
std::vector<Row> ReadAll(SQLite::Statement& statement) {
  std::vector<Row> rows;
  while (statement.executeStep()) rows.push_back(Read<Row>(statement));
  statement.reset();
  return rows;
}

}  // namespace

/// The connection and its prepared statements. Everything here may throw SQLite::Exception.
class SqliteStorage::Connection {
 public:
  Connection(const std::string& path, DatabaseLock lock, const SqliteOptions& options)
      : lock_(std::move(lock)),
        database_(path, SQLite::OPEN_READWRITE, static_cast<int>(options.busy_timeout.count())) {
    database_.exec(fmt::format("PRAGMA max_page_count = {}",
                               options.pages_max > 0 ? options.pages_max : 4294967294));
  }

  /// Only for a file that Migrate has accepted.
  void Prepare() {
    database_.exec("PRAGMA journal_mode = WAL");
    database_.exec("PRAGMA synchronous = FULL");
    database_.exec("PRAGMA wal_autocheckpoint = 1000");
    database_.exec("PRAGMA journal_size_limit = 67108864");
    writer_.emplace(database_);
  }

  SQLite::Database& database() { return database_; }

  void Commit(const WriteBatch& batch) {
    writer_->begin.exec();
    for (const Write& write : batch.writes) std::visit(*writer_, write);
    writer_->commit.exec();
    writer_->begin.reset();
    writer_->commit.reset();
  }

  /// Back to where the failed Commit began. A commit that failed may have rolled back by itself.
  void Abandon() noexcept {
    writer_->ResetAll();
    if (sqlite3_get_autocommit(database_.getHandle()) == 0) {
      sqlite3_exec(database_.getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
  }

  Snapshot Load();
  std::vector<MetricRow> LoadObjective(ExperimentId experiment);

  /// What `load` returns, or the status for what it throws.
  template <typename Load>
  auto Guard(Load load) -> absl::StatusOr<decltype(load())> {
    try {
      return load();
    } catch (const SQLite::Exception& error) {
      return ToStatus(error, database_);
    } catch (const MalformedRow& error) {
      return absl::DataLossError(
          fmt::format("database {}: {}", database_.getFilename(), error.what()));
    }
  }

 private:
  /// One statement for each kind of write.
  struct Writer {
    explicit Writer(SQLite::Database& database)
        : begin(database, "BEGIN IMMEDIATE"),
          commit(database, "COMMIT"),
          experiment(database, UpsertSql<ExperimentRow>()),
          trial(database, UpsertSql<TrialRow>()),
          attempt(database, UpsertSql<AttemptRow>()),
          metric(database, InsertSql<MetricRow>()),
          supersede(database, kSupersedeSql),
          decision(database, UpsertSql<DecisionRow>()),
          checkpoint(database, UpsertSql<CheckpointRow>()),
          worker(database, UpsertSql<WorkerRow>()),
          event(database, InsertSql<EventRow>()),
          request(database, UpsertSql<RequestRow>()),
          log_tail(database, UpsertSql<LogTailRow>()),
          forget(database, "DELETE FROM requests WHERE time_us < ?") {}

    void operator()(const ExperimentRow& row) { Put(experiment, row); }
    void operator()(const TrialRow& row) { Put(trial, row); }
    void operator()(const AttemptRow& row) { Put(attempt, row); }
    void operator()(const MetricRow& row) { Put(metric, row); }
    void operator()(const SupersedeMetrics& write) {
      const TrialId id = write.attempt.trial;
      SQLite::bind(supersede, id.experiment.value, id.number.value, write.attempt.attempt,
                   write.after_step);
      Run(supersede);
    }
    void operator()(const DecisionRow& row) { Put(decision, row); }
    void operator()(const CheckpointRow& row) { Put(checkpoint, row); }
    void operator()(const WorkerRow& row) { Put(worker, row); }
    void operator()(const EventRow& row) { Put(event, row); }
    void operator()(const RequestRow& row) { Put(request, row); }
    void operator()(const LogTailRow& row) { Put(log_tail, row); }
    void operator()(const ForgetRequests& write) {
      forget.bind(1, write.before.us);
      Run(forget);
    }

    void ResetAll() noexcept {
      for (SQLite::Statement* statement :
           {&begin, &commit, &experiment, &trial, &attempt, &metric, &supersede, &decision,
            &checkpoint, &worker, &event, &request, &log_tail, &forget}) {
        statement->tryReset();
      }
    }

    SQLite::Statement begin, commit;
    SQLite::Statement experiment, trial, attempt, metric, supersede, decision, checkpoint, worker,
        event, request, log_tail, forget;

   private:
    static void Run(SQLite::Statement& statement) {
      statement.exec();
      statement.reset();
    }
    template <typename Row>
    static void Put(SQLite::Statement& statement, const Row& row) {
      Bind(row, statement);
      Run(statement);
    }
  };

  ExperimentSnapshot LoadExperiment(const ExperimentRow& row);
  void AddRecentMetrics(ExperimentSnapshot& snapshot);

  DatabaseLock lock_;  // given up after the connection is closed
  SQLite::Database database_;
  std::optional<Writer> writer_;
};

Snapshot SqliteStorage::Connection::Load() {
  Snapshot snapshot;
  SQLite::Statement last(database_, "SELECT seq FROM sqlite_sequence WHERE name = 'experiments'");
  if (last.executeStep()) snapshot.last_experiment_id.value = last.getColumn(0).getInt64();

  SQLite::Statement experiments(
      database_, SelectSql<ExperimentRow>() + "experiments" + kActiveExperiments + " ORDER BY id");
  while (experiments.executeStep()) {
    snapshot.experiments.push_back(LoadExperiment(Read<ExperimentRow>(experiments)));
  }
  SQLite::Statement workers(database_, SelectSql<WorkerRow>() + "workers ORDER BY name");
  snapshot.workers = ReadAll<WorkerRow>(workers);
  SQLite::Statement requests(database_,
                             SelectSql<RequestRow>() + "requests ORDER BY time_us, request_id");
  snapshot.requests = ReadAll<RequestRow>(requests);
  return snapshot;
}

ExperimentSnapshot SqliteStorage::Connection::LoadExperiment(const ExperimentRow& row) {
  ExperimentSnapshot snapshot;
  snapshot.experiment = row;
  const auto read = [&]<typename Row>(std::vector<Row>& rows, const std::string& rest) {
    SQLite::Statement statement(database_, SelectSql<Row>() + rest);
    statement.bind(1, row.id.value);
    rows = ReadAll<Row>(statement);
  };
  read(snapshot.trials, "trials WHERE experiment_id = ? ORDER BY number");
  read(snapshot.attempts, "attempts WHERE experiment_id = ? ORDER BY trial_number, attempt");
  read(snapshot.decisions, "decisions WHERE experiment_id = ? ORDER BY seq");
  read(snapshot.checkpoints,
       "checkpoints WHERE experiment_id = ? AND state = 'stored'"
       " ORDER BY trial_number, attempt, step");
  read(snapshot.objective_metrics,
       fmt::format("metrics WHERE experiment_id = ?1 AND superseded = 0 AND trial_number IN"
                   " ({})"
                   " AND name = (SELECT metric FROM experiments WHERE id = ?1)"
                   " ORDER BY trial_number, step, attempt",
                   kReportingTrials));
  AddRecentMetrics(snapshot);
  return snapshot;
}

std::vector<MetricRow> SqliteStorage::Connection::LoadObjective(ExperimentId experiment) {
  SQLite::Statement statement(database_,
                              SelectSql<MetricRow>() +
                                  "metrics WHERE experiment_id = ?1"
                                  " AND name = (SELECT metric FROM experiments WHERE id = ?1)"
                                  " ORDER BY trial_number, attempt, step");
  statement.bind(1, experiment.value);
  return ReadAll<MetricRow>(statement);
}

void SqliteStorage::Connection::AddRecentMetrics(ExperimentSnapshot& snapshot) {
  SQLite::Statement newest(
      database_, "SELECT max(attempt) FROM metrics WHERE experiment_id = ? AND trial_number = ?");
  SQLite::Statement recent(
      database_,
      SelectSql<MetricRow>() +
          fmt::format("metrics WHERE experiment_id = ?1 AND trial_number = ?2 AND attempt = ?3"
                      " AND step >= (SELECT min(step) FROM (SELECT DISTINCT step FROM metrics"
                      " WHERE experiment_id = ?1 AND trial_number = ?2 AND attempt = ?3"
                      " ORDER BY step DESC LIMIT {})) ORDER BY step, name",
                      kRecentMetricSteps));
  SQLite::Statement reporting(database_, fmt::format("{} ORDER BY 1", kReportingTrials));
  const int64_t experiment = snapshot.experiment.id.value;
  reporting.bind(1, experiment);
  while (reporting.executeStep()) {
    const int32_t trial = reporting.getColumn(0).getInt();
    SQLite::bind(newest, experiment, trial);
    newest.executeStep();
    if (!newest.getColumn(0).isNull()) {
      SQLite::bind(recent, experiment, trial, newest.getColumn(0).getInt());
      for (MetricRow& row : ReadAll<MetricRow>(recent)) {
        snapshot.recent_metrics.push_back(std::move(row));
      }
    }
    newest.reset();
  }
}

SqliteStorage::SqliteStorage(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}

SqliteStorage::~SqliteStorage() = default;

absl::StatusOr<std::unique_ptr<SqliteStorage>> SqliteStorage::Open(
    const std::filesystem::path& path, const SqliteOptions& options) {
  auto resolved = Resolve(path);
  if (!resolved.ok()) return resolved.status();
  RUNG_RETURN_IF_ERROR(CheckFileSystem(resolved->parent_path()));
  auto lock = DatabaseLock::Acquire(*resolved);
  if (!lock.ok()) return lock.status();
  RUNG_RETURN_IF_ERROR(CreatePrivately(*resolved));
  try {
    auto connection = std::make_unique<Connection>(resolved->native(), *std::move(lock), options);
    RUNG_RETURN_IF_ERROR(Migrate(connection->database()));
    connection->Prepare();
    return std::unique_ptr<SqliteStorage>(new SqliteStorage(std::move(connection)));
  } catch (const SQLite::Exception& error) {
    return ToStatus(error, resolved->native());
  }
}

absl::Status SqliteStorage::Commit(const WriteBatch& batch) {
  if (batch.empty()) return absl::OkStatus();
  try {
    connection_->Commit(batch);
    return absl::OkStatus();
  } catch (const SQLite::Exception& error) {
    absl::Status status = ToStatus(error, connection_->database());
    connection_->Abandon();
    return status;
  }
}

absl::StatusOr<Snapshot> SqliteStorage::Load() {
  return connection_->Guard([&] { return connection_->Load(); });
}

absl::StatusOr<std::vector<MetricRow>> SqliteStorage::LoadObjective(ExperimentId experiment) {
  return connection_->Guard([&] { return connection_->LoadObjective(experiment); });
}

}  // namespace rung
