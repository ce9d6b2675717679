// What is particular to the database file: who may open it, what is refused, what a full disk, a
// locked or corrupt file and a long reader do. conformance_test.cc has what every storage promises.
#include "storage/sqlite_storage.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <unistd.h>

#include <fstream>

#include "storage/database_lock.h"
#include "storage/database_reader.h"
#include "storage/schema.h"
#include "tests/storage/sample_rows.h"
#include "tests/storage/temporary_folder.h"

namespace rung {
namespace {

using testing::HasSubstr;

class SqliteStorageTest : public testing::Test {
 protected:
  std::unique_ptr<SqliteStorage> Open(const SqliteOptions& options = {}) {
    auto storage = SqliteStorage::Open(path_, options);
    EXPECT_TRUE(storage.ok()) << storage.status();
    return storage.ok() ? *std::move(storage) : nullptr;
  }
  absl::Status OpenStatus() { return SqliteStorage::Open(path_).status(); }
  /// Runs SQL behind the storage's back, as a person with a `sqlite3` shell would.
  void Execute(const std::string& sql) {
    SQLite::Database(path_.native(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
  }
  int64_t Ask(const std::string& sql) {
    SQLite::Database database(path_.native(), SQLite::OPEN_READONLY);
    return database.execAndGet(sql).getInt64();
  }
  std::filesystem::perms ModeOf(const std::string& suffix) {
    return std::filesystem::status(path_.native() + suffix).permissions();
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "rung.db";
};

TEST_F(SqliteStorageTest, CreatesItsFilesForTheOwnerAlone) {
  const auto storage = Open();
  ASSERT_TRUE(storage->Commit(BatchOf({SampleExperiment(1)})).ok());
  const auto owner = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    EXPECT_EQ(ModeOf(suffix), owner) << suffix;
  }
}

TEST_F(SqliteStorageTest, AnEmptyFileIsMigratedToTheLatestVersion) {
  std::ofstream(path_).close();
  Open();
  EXPECT_EQ(Ask("PRAGMA user_version"), LatestSchemaVersion());
  EXPECT_EQ(Ask("PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(Ask("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN"
                " ('experiments', 'trials', 'attempts', 'metrics', 'decisions', 'checkpoints',"
                " 'workers', 'events', 'requests', 'log_tails')"),
            10);
}

TEST_F(SqliteStorageTest, ASecondOpenIsRefusedAndNamesFileAndHolder) {
  auto first = Open();
  const absl::Status second = OpenStatus();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.message()), HasSubstr(path_.native()));
  EXPECT_THAT(std::string(second.message()), HasSubstr(fmt::format("process {}", getpid())));
  first.reset();
  EXPECT_TRUE(OpenStatus().ok());
}

TEST_F(SqliteStorageTest, ASymbolicLinkDoesNotLeadAroundTheLock) {
  const auto first = Open();
  std::filesystem::create_symlink(path_, folder_ / "link.db");
  EXPECT_EQ(SqliteStorage::Open(folder_ / "link.db").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(SqliteStorageTest, AMissingFolderIsNotFoundAndNamed) {
  const absl::Status status = SqliteStorage::Open(folder_ / "none/rung.db").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("none"));
}

TEST_F(SqliteStorageTest, ADatabaseOfANewerRungIsRefusedUnchanged) {
  Open();
  Execute("PRAGMA user_version = 99");
  const absl::Status status = OpenStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("schema version 99"));
  EXPECT_EQ(DatabaseReader::Open(path_).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Ask("PRAGMA user_version"), 99);
}

TEST_F(SqliteStorageTest, ADatabaseOfAnotherProgramIsRefusedUnchanged) {
  Execute("CREATE TABLE recipes (title TEXT)");
  const absl::Status status = OpenStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("not one of rung"));
  EXPECT_EQ(Ask("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST_F(SqliteStorageTest, ReaderOfAFileThatNoSchedulerHasMigratedIsRefused) {
  std::ofstream(path_).close();
  const absl::Status status = DatabaseReader::Open(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("start rung-scheduler"));
}

TEST_F(SqliteStorageTest, AFileThatIsNoDatabaseIsDataLoss) {
  std::ofstream(path_) << std::string(8192, 'x');
  EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SqliteStorageTest, AnUnknownStateIsDataLossAndNamed) {
  const auto storage = Open();
  ASSERT_TRUE(storage->Commit(BatchOf({SampleExperiment(1), SampleTrial(TrialOf(1, 0))})).ok());
  Execute("UPDATE trials SET state = 'bogus'");
  const absl::Status status = storage->Load().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("trials.state holds 'bogus'"));
}

TEST_F(SqliteStorageTest, DamagedPagesAreDataLoss) {
  {
    const auto storage = Open();
    WriteBatch batch = BatchOf({SampleExperiment(1)});
    for (int32_t number = 0; number < 1000; ++number) batch.Add(SampleTrial(TrialOf(1, number)));
    ASSERT_TRUE(storage->Commit(batch).ok());
  }  // closing moves the WAL into the file
  const auto size = std::filesystem::file_size(path_);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size / 2));
  file << std::string(size / 4, '\x5a');
  file.close();
  EXPECT_EQ(Open()->Load().status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SqliteStorageTest, AFullDiskRefusesTheBatchWholeAndTheStorageStaysUsable) {
  const LogTailRow large{AttemptOf(1, 0, 0), 0, std::string(65536, 'x')};
  {
    const auto storage = Open({.busy_timeout = {}, .pages_max = 100});  // 409,600 bytes
    ASSERT_TRUE(storage->Commit(BatchOf({SampleExperiment(1)})).ok());
    absl::Status status;
    int32_t stored = 0;
    for (; status.ok() && stored < 100; ++stored) {
      LogTailRow row = large;
      row.rank = stored;
      TrialRow trial = SampleTrial(TrialOf(1, stored));
      status = storage->Commit(BatchOf({trial, row}));
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    const auto snapshot = storage->Load();
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    EXPECT_EQ(snapshot->experiments.at(0).trials.size(), static_cast<size_t>(stored - 1));
    EXPECT_TRUE(storage->Commit(BatchOf({SampleExperiment(1)})).ok());  // needs no new page
    EXPECT_TRUE(DatabaseReader::Open(path_).ok());
  }
  const auto storage = Open();  // there is room again
  EXPECT_TRUE(storage->Commit(BatchOf({large})).ok());
  SQLite::Database database(path_.native(), SQLite::OPEN_READONLY);
  EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
}

TEST_F(SqliteStorageTest, AFileThatAnotherProgramWritesToIsUnavailableUntilItIsDone) {
  const auto storage = Open({.busy_timeout = std::chrono::milliseconds(0), .pages_max = 0});
  SQLite::Database other(path_.native(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  EXPECT_EQ(storage->Commit(BatchOf({SampleExperiment(1)})).code(), absl::StatusCode::kUnavailable);
  other.exec("ROLLBACK");
  EXPECT_TRUE(storage->Commit(BatchOf({SampleExperiment(1)})).ok());
}

TEST_F(SqliteStorageTest, ALongReaderSeesItsSnapshotAndTheWalIsUsedAgainAfterwards) {
  const auto storage = Open();
  ASSERT_TRUE(storage->Commit(BatchOf({SampleExperiment(1)})).ok());
  const auto write = [&](int32_t round) {  // 16 pages each: 100 rounds pass the checkpoint's 1000
    LogTailRow row{AttemptOf(1, 0, round), 0, std::string(65536, 'x')};
    ASSERT_TRUE(storage->Commit(BatchOf({row})).ok());
  };
  std::uintmax_t grown = 0;
  {
    SQLite::Database reader(path_.native(), SQLite::OPEN_READONLY);
    reader.exec("BEGIN");
    EXPECT_EQ(reader.execAndGet("SELECT count(*) FROM log_tails").getInt(), 0);
    for (int32_t round = 0; round < 200; ++round) write(round);
    EXPECT_EQ(reader.execAndGet("SELECT count(*) FROM log_tails").getInt(), 0);
    grown = std::filesystem::file_size(path_.native() + "-wal");
  }
  EXPECT_GT(grown, 200u * 65536u);  // nothing could be taken out while the reader stayed
  for (int32_t round = 200; round < 300; ++round) write(round);
  EXPECT_LE(std::filesystem::file_size(path_.native() + "-wal"), grown + 100 * 65536u / 2);
  EXPECT_EQ(Ask("SELECT count(*) FROM log_tails"), 300);
}

TEST_F(SqliteStorageTest, EventsAreOnlyAppended) {
  EventRow event;
  event.experiment = ExperimentId{1};
  event.trial = TrialNumber{2};
  event.attempt = 3;
  event.kind = "attempt_started";
  event.message = "attempt 1.2.3 started on w1";
  event.time = WallTime{4};
  const auto storage = Open();
  ASSERT_TRUE(storage->Commit(BatchOf({event, event, EventRow{}})).ok());
  EXPECT_EQ(Ask("SELECT count(*) FROM events WHERE experiment_id = 1 AND trial_number = 2 AND"
                " attempt = 3 AND kind = 'attempt_started' AND time_us = 4"),
            2);
  EXPECT_EQ(Ask("SELECT count(*) FROM events WHERE experiment_id = 0 AND trial_number IS NULL AND"
                " attempt IS NULL"),
            1);
}

TEST_F(SqliteStorageTest, AnExperimentIdIsNotReusedAfterItsRowIsGone) {
  ASSERT_TRUE(Open()->Commit(BatchOf({SampleExperiment(5)})).ok());
  Execute("DELETE FROM experiments");
  EXPECT_EQ(Open()->Load()->last_experiment_id.value, 5);
}

TEST(DatabaseLockTest, KnowsNetworkFileSystemsFromLocalOnes) {
  EXPECT_EQ(NetworkFileSystemName(NFS_SUPER_MAGIC), "NFS");
  EXPECT_EQ(NetworkFileSystemName(static_cast<int64_t>(0xFF534D42)), "SMB");
  EXPECT_EQ(NetworkFileSystemName(static_cast<int32_t>(0xFF534D42)), "SMB");  // where long is short
  EXPECT_EQ(NetworkFileSystemName(EXT4_SUPER_MAGIC), std::nullopt);
  EXPECT_EQ(NetworkFileSystemName(TMPFS_MAGIC), std::nullopt);
  EXPECT_EQ(NetworkFileSystemName(OVERLAYFS_SUPER_MAGIC), std::nullopt);
}

}  // namespace
}  // namespace rung
