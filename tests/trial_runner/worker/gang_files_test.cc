#include "trial_runner/worker/gang_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trial_runner/worker/checkpoint_manifest.h"

namespace rung::worker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class GangFilesTest : public ::testing::Test {
 protected:
  GangFilesTest() {
    std::string pattern = (fs::temp_directory_path() / "rung-files-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    files_ = {.program = "sh",
              .working_dir = folder_,
              .search_path = "/usr/bin:/bin",
              .resume_from = {},
              .checkpoint_folder = folder_ + "/checkpoints/1.2/attempt0",
              .log_folder = folder_ + "/logs/1.2.0"};
  }
  ~GangFilesTest() override { fs::remove_all(folder_); }
  StartFailure Fail() const {
    const std::optional<StartFailure> failure = PrepareFiles(files_);
    EXPECT_TRUE(failure.has_value());
    return failure.value_or(StartFailure{});
  }

  std::string folder_;
  GangFiles files_;
};

TEST_F(GangFilesTest, FoldersAreMade) {
  EXPECT_FALSE(PrepareFiles(files_).has_value());
  EXPECT_TRUE(fs::is_directory(files_.checkpoint_folder));
  EXPECT_TRUE(fs::is_directory(files_.log_folder));
}

TEST_F(GangFilesTest, MissingProgramIsRefused) {
  files_.program = "no-such-program";
  EXPECT_EQ(Fail().cause, ExitCause::kRefused);
  EXPECT_THAT(Fail().message, HasSubstr("no-such-program"));
}

TEST_F(GangFilesTest, FolderThatCannotBeMadeIsTheMachinesFault) {
  std::ofstream(folder_ + "/checkpoints") << "a file in the way";
  EXPECT_EQ(Fail().cause, ExitCause::kCouldNotStart);
  EXPECT_THAT(Fail().message, HasSubstr("cannot make the folder"));
}

TEST_F(GangFilesTest, FullDiskIsTheMachinesFault) {
  files_.free_bytes_min = fs::space(folder_).capacity + 1;
  EXPECT_EQ(Fail().cause, ExitCause::kCouldNotStart);
  EXPECT_THAT(Fail().message, HasSubstr("the disk of '" + files_.checkpoint_folder + "' is full"));
  files_.free_bytes_min = 0;
  EXPECT_FALSE(PrepareFiles(files_).has_value());
}

TEST_F(GangFilesTest, DamagedCheckpointIsALoss) {
  fs::create_directories(folder_ + "/own");
  std::ofstream(folder_ + "/own/step-5") << "12345";
  files_.resume_from = WriteManifest(folder_ + "/own", "step-5", 5).value().path;
  EXPECT_FALSE(PrepareFiles(files_).has_value());
  std::ofstream(folder_ + "/own/step-5") << "1234";
  EXPECT_EQ(Fail().cause, ExitCause::kLost);
  fs::remove(files_.resume_from + ".manifest.json");
  EXPECT_EQ(Fail().cause, ExitCause::kLost);
}

TEST_F(GangFilesTest, CheckpointThatCannotBeLookedAtIsNotToBlame) {
  // A name that no file system takes: as for a file server that is away, it is not known whether
  // the checkpoint is there.
  files_.resume_from = folder_ + "/" + std::string(300, 'x');
  EXPECT_EQ(Fail().cause, ExitCause::kCouldNotStart);
}

}  // namespace
}  // namespace rung::worker
