// Files of earlier versions are upgraded and keep what they hold.
#include "storage/schema.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/database_reader.h"
#include "storage/sqlite_storage.h"
#include "tests/storage/queries.h"
#include "tests/storage/temporary_folder.h"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One experiment with a trial that passed a level, as the first version wrote them.
constexpr const char* kRowsOfVersion1 = R"sql(
INSERT INTO experiments VALUES (7, 'bert-asha', 'active', '', '{}', 'accuracy', 'maximize', 'best',
                                3, 'ada', 0, 27, 100, '{"brackets":[{"rungs":[{"level":1},
                                {"level":3},{"level":10}]}]}', 1700000000000000, NULL);
INSERT INTO trials VALUES (7, 0, 'running', '', '{"lr":0.5}', 0, 0.75, 10, 10, 10, 1, 0, 0,
                           1700000000000001, NULL);
INSERT INTO attempts VALUES (7, 0, 0, 'running', NULL, NULL, '', 'w1', '', 0, 1, 0, 1000,
                             1700000000000002, NULL, 0, 0);
INSERT INTO metrics VALUES (7, 0, 10, 0, 'accuracy', 0.75, 1, 1700000000000003, 0);
INSERT INTO decisions VALUES (7, 1, 0, 0, 10, 0, 10, 0.75, 0, 1, 1, NULL,
                              'asha.stopping.quantile', 'continue', 'no_rivals', 1700000000000003);
)sql";

class SchemaTest : public testing::Test {
 protected:
  /// A file as a program of that version left it.
  void MakeFileOf(int32_t version) {
    SQLite::Database database(path_.native(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    for (int32_t i = 0; i < version; ++i) {
      database.exec(std::string(Migrations()[static_cast<size_t>(i)]));
    }
    database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                              kApplicationId, version));
    database.exec(kRowsOfVersion1);
  }
  std::vector<std::string> Ask(const std::string& sql) { return AskFile(path_, sql); }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "rung.db";
};

TEST_F(SchemaTest, AFileOfVersion1IsUpgradedAndKeepsItsRows) {
  MakeFileOf(1);
  const auto storage = SqliteStorage::Open(path_);
  ASSERT_TRUE(storage.ok()) << storage.status();
  EXPECT_THAT(Ask("PRAGMA user_version"), ElementsAre(std::to_string(LatestSchemaVersion())));
  const auto snapshot = (*storage)->Load();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  ASSERT_EQ(snapshot->experiments.size(), 1U);
  const ExperimentSnapshot& experiment = snapshot->experiments[0];
  EXPECT_EQ(experiment.experiment.id.value, 7);
  ASSERT_EQ(experiment.trials.size(), 1U);
  EXPECT_EQ(experiment.trials[0].params, R"({"lr":0.5})");
  EXPECT_EQ(experiment.attempts.size(), 1U);
  EXPECT_EQ(experiment.recent_metrics.size(), 1U);
  ASSERT_EQ(experiment.decisions.size(), 1U);
  EXPECT_EQ(experiment.decisions[0].reason, "no_rivals");
}

TEST_F(SchemaTest, Version3CountsPromotedTrialsAsContinuedAndOverPromotions) {
  // Trial 1 pauses and is promoted later, trial 2 pauses, trial 3 goes on in place.
  constexpr const char* kGrants = R"sql(
INSERT INTO decisions VALUES (7, 2, 0, 0, 1, 1, 1, 0.5, 0, 1, 1, NULL, 'asha.promotion', 'pause',
                             'below_top', 0);
INSERT INTO decisions VALUES (7, 3, 0, 0, 1, 2, 1, 0.4, 1, 2, 2, NULL, 'asha.promotion', 'pause',
                             'below_top', 0);
INSERT INTO decisions VALUES (7, 4, 0, 0, 1, 3, 1, 0.6, 2, 3, 1, NULL, 'asha.promotion', 'continue',
                             'promoted_on_arrival', 0);
INSERT INTO decisions VALUES (7, 5, 0, 0, 1, 3, 1, 0.6, 2, 3, 1, NULL, 'asha.promotion', 'promote',
                             'promoted_on_arrival', 0);
INSERT INTO decisions VALUES (7, 6, 0, 0, 1, 1, 1, 0.5, 2, 3, 2, NULL, 'asha.promotion', 'promote',
                             'promoted', 0);
)sql";
  MakeFileOf(1);
  SQLite::Database(path_.native(), SQLite::OPEN_READWRITE).exec(kGrants);
  const std::string occupancy =
      "SELECT level, entries, continued, stopped, paused, best_value FROM rungs";
  EXPECT_THAT(Ask(occupancy), ElementsAre("1|3|1|0|2|0.6", "10|1|1|0|0|0.75"));
  ASSERT_TRUE(SqliteStorage::Open(path_).ok());
  EXPECT_THAT(Ask(occupancy), ElementsAre("1|3|2|0|1|0.6", "10|1|1|0|0|0.75"));
  // The next level of 1 is 3, so 3 · 1 div 3 = 1 of three goes on; two did.
  EXPECT_THAT(Ask("SELECT level, over_promoted FROM rungs"), ElementsAre("1|1", "10|0"));
}

TEST_F(SchemaTest, AReaderOfAnEarlierVersionIsToldToStartAScheduler) {
  MakeFileOf(1);
  const absl::Status status = DatabaseReader::Open(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("has schema version 1"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("start rung-scheduler on it once"));
}

}  // namespace
}  // namespace rung
