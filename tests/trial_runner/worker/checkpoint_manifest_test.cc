#include "trial_runner/worker/checkpoint_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rung::worker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CheckpointManifestTest : public ::testing::Test {
 protected:
  CheckpointManifestTest() {
    std::string pattern = (fs::temp_directory_path() / "rung-ckpt-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    folder_ = root_ + "/own";
    fs::create_directories(folder_ + "/step-5/sub");
    Write("own/step-5/weights", "12345");
    Write("own/step-5/sub/optimizer", "123");
    Write("own/single", "1");
    Write("secret", "x");
  }
  ~CheckpointManifestTest() override { fs::remove_all(root_); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(root_ + "/" + name) << text;
  }
  std::string root_;
  std::string folder_;
};

TEST_F(CheckpointManifestTest, FolderIsWrittenAndVerifies) {
  const auto written = WriteManifest(folder_, "step-5", 5);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->path, fs::canonical(folder_).string() + "/step-5");
  EXPECT_EQ(written->bytes, 8);
  EXPECT_TRUE(VerifyCheckpoint(written->path).ok());
}

TEST_F(CheckpointManifestTest, SingleFileAndAbsolutePathAreFine) {
  const auto written = WriteManifest(folder_, folder_ + "/single", 1);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->bytes, 1);
  EXPECT_TRUE(VerifyCheckpoint(written->path).ok());
}

TEST_F(CheckpointManifestTest, TruncatedOrMissingFileDoesNotVerify) {
  const std::string path = WriteManifest(folder_, "step-5", 5)->path;
  Write("own/step-5/weights", "1234");
  EXPECT_EQ(VerifyCheckpoint(path).code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(VerifyCheckpoint(path).message()), HasSubstr("4 bytes"));
  fs::remove(root_ + "/own/step-5/weights");
  EXPECT_EQ(VerifyCheckpoint(path).code(), absl::StatusCode::kNotFound);
}

TEST_F(CheckpointManifestTest, WithoutOrWithABrokenManifestNothingVerifies) {
  EXPECT_EQ(VerifyCheckpoint(folder_ + "/step-5").code(), absl::StatusCode::kNotFound);
  Write("own/step-5.manifest.json", "{\"files\":[{}]}");
  EXPECT_EQ(VerifyCheckpoint(folder_ + "/step-5").code(), absl::StatusCode::kDataLoss);
}

TEST_F(CheckpointManifestTest, PathsOutsideTheFolderAreRefused) {
  fs::create_symlink(root_ + "/secret", folder_ + "/link");
  fs::create_directory(root_ + "/own-not");
  for (const std::string& path :
       {std::string("../secret"), root_ + "/secret", std::string("link"), std::string("."),
        std::string("step-5/../.."), root_ + "/own-not"}) {
    EXPECT_EQ(WriteManifest(folder_, path, 1).status().code(), absl::StatusCode::kInvalidArgument)
        << path;
  }
}

TEST_F(CheckpointManifestTest, SymbolicLinkInsideACheckpointIsRefused) {
  fs::create_symlink(root_ + "/secret", folder_ + "/step-5/link");
  EXPECT_THAT(std::string(WriteManifest(folder_, "step-5", 5).status().message()),
              HasSubstr("link"));
}

TEST_F(CheckpointManifestTest, NamesThatAreNotUtf8AreRefused) {
  // The name is the wire's and the manifest's: neither takes other bytes.
  fs::create_directory(folder_ + "/bad-\xff");
  Write("own/bad-\xff/weights", "1");
  fs::create_directory_symlink(folder_ + "/bad-\xff", folder_ + "/good");
  Write("own/step-5/sub/bad-\xff", "1");
  for (const std::string path : {"bad-\xff", "good", "step-5"}) {
    const absl::Status status = WriteManifest(folder_, path, 1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr("not UTF-8")) << path;
  }
}

TEST_F(CheckpointManifestTest, CheckpointThatCannotBeLookedAtIsUnavailable) {
  // As with a file server that is away: whether it is there is not known.
  EXPECT_EQ(VerifyCheckpoint(folder_ + "/" + std::string(300, 'x')).code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(CheckpointManifestTest, MissingPathIsNotFound) {
  EXPECT_EQ(WriteManifest(folder_, "step-6", 6).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace rung::worker
