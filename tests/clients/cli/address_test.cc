#include "clients/cli/address.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace rung::cli {
namespace {

class AddressTest : public testing::Test {
 protected:
  AddressTest() {
    std::string name = std::filesystem::temp_directory_path() / "rung-address-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~AddressTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& file, const std::string& text) const {
    std::ofstream(folder_ / file) << text;
  }
  absl::StatusOr<Address> Resolve(const AddressOptions& options) const {
    return ResolveAddress(options, Home(folder_));
  }

  std::filesystem::path folder_;
};

TEST_F(AddressTest, TakesTheSocketOfTheHomeFolderByDefault) {
  const auto address = Resolve({});
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->target, "unix:" + (folder_ / "rung.sock").string());
  EXPECT_TRUE(address->local);
}

TEST_F(AddressTest, TakesTheSocketThatTheSchedulerWrote) {
  // A long home path moves the socket elsewhere.
  Write("scheduler.json",
        R"({"pid": 1, "addresses": ["127.0.0.1:7070", "unix:/tmp/x/rung.sock"]})");
  EXPECT_EQ(Resolve({})->target, "unix:/tmp/x/rung.sock");
  Write("scheduler.json", R"({"pid": 1, "addr)");  // half written
  EXPECT_EQ(Resolve({})->target, "unix:" + (folder_ / "rung.sock").string());
}

TEST_F(AddressTest, SaysThatNothingRunsWhereASocketCannotBe) {
  const Home home(folder_ / std::string(120, 'x'));
  const auto address = ResolveAddress({}, home);
  EXPECT_EQ(address.status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(AddressTest, AcceptsTheThreeForms) {
  EXPECT_EQ(Resolve({.server = "unix:/a/b", .token_file = {}})->target, "unix:/a/b");
  EXPECT_EQ(Resolve({.server = "/a/b", .token_file = {}})->target, "unix:/a/b");
  EXPECT_EQ(Resolve({.server = "host:7070", .token_file = {}, .insecure_network = true})->target,
            "host:7070");
  EXPECT_EQ(Resolve({.server = "[::1]:7070", .token_file = {}})->target, "[::1]:7070");
}

TEST_F(AddressTest, RefusesOtherForms) {
  for (const char* server : {"host", "host:", ":7070", "host:http", "http://host:7070"}) {
    EXPECT_EQ(Resolve({.server = server, .token_file = {}}).status().message(),
              std::string("server address '") + server +
                  "': allowed are HOST:PORT, unix:/path and /path");
  }
}

TEST_F(AddressTest, SendsNothingUnencryptedBeyondThisMachineUnasked) {
  EXPECT_EQ(Resolve({.server = "gpu-head:7070", .token_file = {}}).status().message(),
            "server address 'gpu-head:7070': TLS comes with a later version; beyond this machine "
            "only isolated networks are possible, with --insecure-network");
  EXPECT_TRUE(
      Resolve({.server = "gpu-head:7070", .token_file = {}, .insecure_network = true}).ok());
  for (const char* server : {"localhost:1", "127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "/a/b"}) {
    EXPECT_TRUE(Resolve({.server = server, .token_file = {}}).ok()) << server;
  }
  for (const char* server : {"127.example.org:1", "127.0.0.1.example.org:1", "::1:7070"}) {
    EXPECT_FALSE(Resolve({.server = server, .token_file = {}}).ok()) << server;
  }
}

TEST_F(AddressTest, SendsTheSecretOfTheTokenFileOverTcpAlone) {
  Write("token", "# name:secret\nada:s3:cret\nbob:other\n");
  EXPECT_EQ(Resolve({.server = "host:7070", .token_file = {}, .insecure_network = true})->token,
            "s3:cret");
  EXPECT_EQ(Resolve({.server = "unix:/a", .token_file = {}})->token, "");
  Write("mine", "eve:mine\r\n");
  EXPECT_EQ(Resolve({.server = "localhost:1", .token_file = folder_ / "mine"})->token, "mine");
}

TEST_F(AddressTest, NamesATokenFileThatIsMissingOrWrong) {
  EXPECT_EQ(Resolve({.server = "localhost:1", .token_file = {}})->token, "");
  const std::string file = folder_ / "absent";
  EXPECT_EQ(Resolve({.server = "localhost:1", .token_file = file}).status().message(),
            "cannot read the token file '" + file + "'");
  Write("token", "no colon\n");
  EXPECT_EQ(Resolve({.server = "localhost:1", .token_file = {}}).status().message(),
            (folder_ / "token").string() + ":1: must be name:secret");
}

}  // namespace
}  // namespace rung::cli
