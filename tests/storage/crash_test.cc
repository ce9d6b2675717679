// A process that commits in a loop is killed with SIGKILL at arbitrary moments: what it had been
// acknowledged is there, no batch is there in part, and the file is sound.
#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>

#include "storage/sqlite_storage.h"
#include "tests/storage/sample_rows.h"
#include "tests/storage/temporary_folder.h"

namespace rung {
namespace {

constexpr int kKills = 25;
constexpr int kRowsPerBatch = 5;

/// Batch n sets the experiment's priority to n and adds kRowsPerBatch rows at step n.
WriteBatch BatchNumber(int32_t n) {
  ExperimentRow experiment = SampleExperiment(1);
  experiment.priority = n;
  WriteBatch batch = BatchOf({experiment});
  for (int32_t trial = 0; trial < kRowsPerBatch; ++trial) {
    batch.Add(SampleMetric(AttemptOf(1, trial, 0), n, 0.5));
  }
  return batch;
}

/// Commits from `first` on for ever, and writes the number of each acknowledged batch to `acks`.
[[noreturn]] void CommitForEver(const std::filesystem::path& path, int32_t first, int acks) {
  auto storage = SqliteStorage::Open(path);
  for (int32_t n = first; storage.ok(); ++n) {
    if (!(*storage)->Commit(BatchNumber(n)).ok()) break;
    if (write(acks, &n, sizeof n) != sizeof n) break;
  }
  _exit(1);
}

/// Starts a committer, kills it after `acks_before` acknowledgements (it is amid a later commit
/// then) and returns the last number that was acknowledged; −1 if it ended by itself.
int32_t CommitAndKill(const std::filesystem::path& path, int32_t first, int acks_before) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    CommitForEver(path, first, ends[1]);
  }
  close(ends[1]);
  int32_t last = -1;
  for (int i = 0; i < acks_before; ++i) {
    if (read(ends[0], &last, sizeof last) != sizeof last) break;
  }
  kill(child, SIGKILL);
  while (read(ends[0], &last, sizeof last) == sizeof last) {
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? last : -1;
}

TEST(StorageCrash, WhatWasAcknowledgedSurvivesSigkill) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "rung.db";
  std::mt19937 random(4711);
  int32_t stored = 0;
  for (int round = 0; round < kKills; ++round) {
    const int acks_before = 1 + static_cast<int>(random() % 40);
    const int32_t acknowledged = CommitAndKill(path, stored + 1, acks_before);
    ASSERT_GE(acknowledged, stored + acks_before) << "round " << round;

    auto storage = SqliteStorage::Open(path);
    ASSERT_TRUE(storage.ok()) << storage.status();
    auto snapshot = (*storage)->Load();
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    stored = snapshot->experiments.at(0).experiment.priority;
    // The last batch may have been committed and killed before its acknowledgement.
    ASSERT_GE(stored, acknowledged) << "round " << round;
    ASSERT_LE(stored, acknowledged + 1) << "round " << round;
    SQLite::Database database(path.native(), SQLite::OPEN_READONLY);
    ASSERT_EQ(database.execAndGet("SELECT count(*) FROM metrics").getInt64(),
              int64_t{stored} * kRowsPerBatch);
    ASSERT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
  }
}

}  // namespace
}  // namespace rung
