#include "clients/cli/home.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace rung::cli {
namespace {

class HomeTest : public testing::Test {
 protected:
  HomeTest() {
    std::string name = std::filesystem::temp_directory_path() / "rung-home-XXXXXX";
    folder_ = std::filesystem::canonical(mkdtemp(name.data()));
  }
  ~HomeTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(HomeTest, TheWorkersLockFileIsInTheHome) {
  std::ofstream(folder_ / "worker.json") << R"({"pid": 7, "name": "w1"})";
  const auto record = Home(folder_).WorkerRecord();
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->pid, 7);
  EXPECT_EQ(record->lock_file, folder_ / "worker.lock");
}

TEST_F(HomeTest, TheSchedulersLockFileIsBesideItsDatabaseWhereverALinkLeads) {
  std::filesystem::create_directory(folder_ / "disk");
  std::filesystem::create_symlink(folder_ / "disk" / "big.db", folder_ / "rung.db");
  std::ofstream(folder_ / "disk" / "big.db") << "";
  std::ofstream(folder_ / "scheduler.json") << R"({"pid": 7})";
  EXPECT_EQ(Home(folder_).SchedulerRecord()->lock_file, folder_ / "disk" / "big.db.lock");
  std::ofstream(folder_ / "scheduler.json")
      << R"({"pid": 7, "database": ")" << (folder_ / "named.db").string() << R"("})";
  EXPECT_EQ(Home(folder_).SchedulerRecord()->lock_file, folder_ / "named.db.lock");
}

TEST_F(HomeTest, AnAbsentOrHalfWrittenRecordIsNone) {
  std::ofstream(folder_ / "scheduler.json") << R"({"pid": 7, "data)";
  EXPECT_FALSE(Home(folder_).SchedulerRecord().has_value());
  EXPECT_FALSE(Home(folder_).WorkerRecord().has_value());
}

}  // namespace
}  // namespace rung::cli
