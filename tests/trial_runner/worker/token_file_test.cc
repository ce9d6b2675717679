#include "trial_runner/worker/token_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace rung::worker {
namespace {

class TokenFileTest : public ::testing::Test {
 protected:
  TokenFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-token-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~TokenFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }

  std::string folder_;
};

TEST_F(TokenFileTest, AChangedFileIsReadAgainAndABrokenOneIsNot) {
  const std::string path = Write("token", "me:old\n");
  const auto file = TokenFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->Secret(), "old");
  Write("token", "me:new\n");
  EXPECT_EQ(file->Secret(), "new");
  Write("token", "me:n\tw\n");  // gRPC would end the process that sends it
  EXPECT_EQ(file->Secret(), "old");
  std::filesystem::remove(path);
  EXPECT_EQ(file->Secret(), "old");
}

TEST_F(TokenFileTest, NoFileIsNoToken) {
  EXPECT_EQ(TokenFile().Secret(), "");
  EXPECT_FALSE(TokenFile::Open(folder_ + "/gone").ok());
}

}  // namespace
}  // namespace rung::worker
