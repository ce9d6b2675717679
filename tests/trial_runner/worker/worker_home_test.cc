#include "trial_runner/worker/worker_home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "trial_runner/worker/server_address.h"

namespace rung::worker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr AttemptId kAttempt{.trial = {.experiment = {12}, .number = {3}}, .attempt = 1};

class WorkerHomeTest : public ::testing::Test {
 protected:
  WorkerHomeTest() {
    std::string pattern = (fs::temp_directory_path() / "rung-home-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~WorkerHomeTest() override { fs::remove_all(root_); }
  std::string root_;
};

TEST_F(WorkerHomeTest, IsMadePrivateAndHasAPlaceForEverything) {
  const WorkerHome home = WorkerHome::Open(root_ + "/a/b").value();
  struct stat status {};
  stat((root_ + "/a/b").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_EQ(home.LogFolder(kAttempt), root_ + "/a/b/logs/12.3.1");
  EXPECT_EQ(home.CheckpointFolder(kAttempt, ""), root_ + "/a/b/checkpoints/12.3/attempt1");
  EXPECT_EQ(home.CheckpointFolder(kAttempt, "/shared"), "/shared/12.3/attempt1");
  EXPECT_EQ(home.SocketPath(kAttempt, 2), root_ + "/a/b/sockets/12.3.1-rank2.s");
}

TEST_F(WorkerHomeTest, SecondWorkerOfOneHomeIsRefusedWithTheProcessOfTheFirst) {
  const WorkerHome home = WorkerHome::Open(root_).value();
  const auto second = WorkerHome::Open(root_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("process " + std::to_string(getpid())));
}

TEST_F(WorkerHomeTest, HomeIsFreeAgainAfterItsWorker) {
  { const WorkerHome home = WorkerHome::Open(root_).value(); }
  EXPECT_TRUE(WorkerHome::Open(root_).ok());
}

TEST_F(WorkerHomeTest, RanksOfAnEarlierWorkerAreWaitedFor) {
  std::optional<WorkerHome> home = WorkerHome::Open(root_).value();
  const int shim = dup(home->ranks_lock_fd());  // as a shim has it
  home.reset();
  const auto refused = WorkerHome::Open(root_, std::chrono::milliseconds(0));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("earlier rung-worker"));
  close(shim);
  EXPECT_TRUE(WorkerHome::Open(root_, std::chrono::milliseconds(0)).ok());
}

TEST_F(WorkerHomeTest, StaleSocketsAreSwept) {
  { const WorkerHome home = WorkerHome::Open(root_).value(); }
  std::ofstream(root_ + "/sockets/1.1.0-rank0.s");
  const WorkerHome home = WorkerHome::Open(root_).value();
  EXPECT_FALSE(fs::exists(root_ + "/sockets/1.1.0-rank0.s"));
}

TEST_F(WorkerHomeTest, LongHomeHasItsSocketsInAShortPrivateFolder) {
  const std::string folder = root_ + "/" + std::string(100, 'x');
  const WorkerHome home = WorkerHome::Open(folder).value();
  const fs::path socket = home.SocketPath(kAttempt, 0);
  EXPECT_LE(socket.native().size(), 100u);
  EXPECT_THAT(socket.native(), Not(StartsWith(root_)));
  struct stat status {};
  stat(socket.parent_path().c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(WorkerHomeTest, TheShortFolderGoesWithTheWorkerWhenItIsEmpty) {
  const std::string folder = root_ + "/" + std::string(100, 'x');
  std::optional<WorkerHome> home = WorkerHome::Open(folder).value();
  const fs::path sockets = home->SocketPath(kAttempt, 0).parent_path();
  EXPECT_TRUE(fs::exists(sockets));
  home.reset();
  EXPECT_FALSE(fs::exists(sockets));
}

TEST_F(WorkerHomeTest, APathThatIsNotUtf8IsRefused) {
  const auto home = WorkerHome::Open(root_ + "/caf\xe9");
  EXPECT_THAT(std::string(home.status().message()), HasSubstr("is not UTF-8: byte 0xe9 after '"));
}

TEST_F(WorkerHomeTest, RecordSaysWhoRuns) {
  const WorkerHome home = WorkerHome::Open(root_).value();
  ASSERT_TRUE(home.WriteRecord({.pid = 7, .name = "n", .server = "unix:/s", .version = "1"}).ok());
  std::ifstream stream(root_ + "/worker.json");
  const auto record = nlohmann::json::parse(stream);
  EXPECT_EQ(record["pid"], 7);
  EXPECT_EQ(record["name"], "n");
  EXPECT_EQ(record["server"], "unix:/s");
  home.RemoveRecord();
  EXPECT_FALSE(fs::exists(root_ + "/worker.json"));
}

TEST(ServerAddress, TakesTheThreeForms) {
  EXPECT_EQ(ParseServerAddress("unix:/a/b")->target, "unix:/a/b");
  EXPECT_EQ(ParseServerAddress("/a/b")->target, "unix:/a/b");
  const ServerAddress tcp = ParseServerAddress("gpu-head:7070").value();
  EXPECT_EQ(tcp.target, "gpu-head:7070");
  EXPECT_FALSE(tcp.is_loopback);
  for (const char* text : {"127.0.0.1:1", "localhost:65535", "[::1]:7070", "unix:/a"}) {
    EXPECT_TRUE(ParseServerAddress(text)->is_loopback) << text;
  }
  EXPECT_FALSE(ParseServerAddress("127.example.org:7070")->is_loopback);
}

TEST(ServerAddress, OtherFormsAreRefused) {
  for (const char* text : {"", "host", "host:", ":7070", "host:0", "host:65536", "host:7x",
                           "unix:", "::1:7070", "a/b:7070"}) {
    EXPECT_FALSE(ParseServerAddress(text).ok()) << text;
  }
}

}  // namespace
}  // namespace rung::worker
