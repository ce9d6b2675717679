#include "scheduler/service_home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "scheduler/endpoint.h"

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class ServiceHomeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static mode_t ModeOf(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
  }

  std::filesystem::path folder_;
};

TEST_F(ServiceHomeTest, IsClosedToOthersWhetherItIsNewOrNot) {
  ASSERT_TRUE(ServiceHome::Open(folder_ / "new" / "home").ok());
  EXPECT_EQ(ModeOf(folder_ / "new" / "home"), 0700u);
  std::filesystem::create_directory(folder_ / "open");
  ASSERT_EQ(chmod((folder_ / "open").c_str(), 0755), 0);
  ASSERT_TRUE(ServiceHome::Open(folder_ / "open/").ok());
  EXPECT_EQ(ModeOf(folder_ / "open"), 0700u);
}

TEST_F(ServiceHomeTest, NeverClosesASharedFolder) {
  std::filesystem::create_directory(folder_ / "shared");
  ASSERT_EQ(chmod((folder_ / "shared").c_str(), 01777), 0);
  EXPECT_FALSE(ServiceHome::Open(folder_ / "shared").ok());
  EXPECT_EQ(ModeOf(folder_ / "shared"), 0777u);
  EXPECT_FALSE(ServiceHome::Open("/").ok());
}

TEST_F(ServiceHomeTest, ALongSocketPathMovesToAClosedFolderOfItsOwn) {
  const auto home = ServiceHome::Open(folder_ / "h");
  ASSERT_TRUE(home.ok());
  EXPECT_EQ(*home->SocketPath(), folder_ / "h" / "rung.sock");
  const auto long_home = ServiceHome::Open(folder_ / std::string(120, 'x'));
  ASSERT_TRUE(long_home.ok());
  const auto moved = long_home->SocketPath();
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_LE(moved->string().size(), 100u);
  EXPECT_EQ(ModeOf(moved->parent_path()), 0700u);
  EXPECT_EQ(*long_home->SocketPath(), *moved);  // the same at each start
  std::filesystem::remove_all(moved->parent_path());
}

TEST_F(ServiceHomeTest, TheFolderOfAMovedSocketGoesWithItWhenItIsEmpty) {
  const auto home = ServiceHome::Open(folder_ / std::string(120, 'x'));
  const auto moved = home->SocketPath();
  ASSERT_TRUE(moved.ok()) << moved.status();
  std::ofstream(*moved) << "";
  std::ofstream(moved->parent_path() / "other") << "";
  home->RemoveSocket(*moved);
  EXPECT_FALSE(std::filesystem::exists(*moved));
  EXPECT_TRUE(std::filesystem::exists(moved->parent_path()));
  std::filesystem::remove(moved->parent_path() / "other");
  home->RemoveSocket(*moved);
  EXPECT_FALSE(std::filesystem::exists(moved->parent_path()));
  const auto here = ServiceHome::Open(folder_ / "h");
  here->RemoveSocket(*here->SocketPath());
  EXPECT_TRUE(std::filesystem::exists(here->folder()));
}

TEST_F(ServiceHomeTest, APathThatIsNotUtf8IsRefused) {
  const auto home = ServiceHome::Open(folder_ / "caf\xe9");
  EXPECT_EQ(home.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(home.status().message()), HasSubstr("byte 0xe9 after '"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "caf\xe9"));
}

TEST_F(ServiceHomeTest, MakesATokenOnceAndReadsItAgain) {
  const auto home = ServiceHome::Open(folder_ / "h");
  const auto first = home->Tokens("ada");
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_THAT(*first, SizeIs(1));
  EXPECT_EQ((*first)[0].name, "ada");
  EXPECT_THAT((*first)[0].secret, SizeIs(64));
  EXPECT_EQ(ModeOf(home->token_file()), 0600u);
  EXPECT_EQ((*home->Tokens("ada"))[0].secret, (*first)[0].secret);
}

TEST_F(ServiceHomeTest, RefusesATokenFileThatOthersCanReadOrThatHasNoSecret) {
  const auto home = ServiceHome::Open(folder_ / "h");
  std::ofstream(home->token_file()) << "# people\n\nada:secret\nbob:\n";
  ASSERT_EQ(chmod(home->token_file().c_str(), 0644), 0);
  EXPECT_THAT(std::string(home->Tokens("ada").status().message()), HasSubstr("chmod 600"));
  ASSERT_EQ(chmod(home->token_file().c_str(), 0600), 0);
  EXPECT_THAT(std::string(home->Tokens("ada").status().message()),
              HasSubstr("token:4: must be name:secret"));
  std::ofstream(home->token_file()) << "ada:sec\tret\n";  // which no client could show
  EXPECT_THAT(std::string(home->Tokens("ada").status().message()), HasSubstr("found byte 0x09"));
}

TEST_F(ServiceHomeTest, TheRecordSaysWhereTheSchedulerIs) {
  const auto home = ServiceHome::Open(folder_ / "h");
  ASSERT_TRUE(home->WriteRecord({.pid = 1, .addresses = {}, .database = {}, .version = {}}).ok());
  ASSERT_TRUE(home->WriteRecord({.pid = 42,
                                 .addresses = {"unix:/h/rung.sock", "127.0.0.1:7070"},
                                 .database = "/h/rung.db",
                                 .version = "0.1.0",
                                 .started_us = 5})
                  .ok());
  std::ostringstream text;
  text << std::ifstream(home->record_file()).rdbuf();
  const auto record = nlohmann::json::parse(text.str());
  EXPECT_EQ(record["pid"], 42);
  EXPECT_EQ(record["addresses"][1], "127.0.0.1:7070");
  EXPECT_EQ(record["database"], "/h/rung.db");
  home->RemoveRecord();
  EXPECT_FALSE(std::filesystem::exists(home->record_file()));
}

TEST(Endpoint, ReadsHostsAndPortsAndKnowsLoopback) {
  EXPECT_TRUE(ParseTcpEndpoint("127.0.0.1:7070")->loopback);
  EXPECT_TRUE(ParseTcpEndpoint("[::1]:0")->loopback);
  EXPECT_FALSE(ParseTcpEndpoint("0.0.0.0:7070")->loopback);
  EXPECT_EQ(ParseTcpEndpoint("[::1]:80")->host, "::1");
}

TEST(Endpoint, RefusesWhatIsNoEndpoint) {
  for (const char* text : {"", "7070", ":7070", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                           "127.0.0.1:http", "::1:7070"}) {
    EXPECT_EQ(ParseTcpEndpoint(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace rung
