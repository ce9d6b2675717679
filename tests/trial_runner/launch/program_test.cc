#include "trial_runner/launch/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace rung {
namespace {

using ::testing::HasSubstr;

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-prog-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ + "/bin");
    AddFile("bin/train", 0755);
    AddFile("bin/data", 0644);
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }
  void AddFile(const std::string& name, mode_t mode) {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n";
    chmod((folder_ + "/" + name).c_str(), mode);
  }
  std::string folder_;
};

TEST_F(ProgramTest, IsFoundInPath) {
  EXPECT_EQ(*FindProgram("train", folder_, "/nowhere:" + folder_ + "/bin"), folder_ + "/bin/train");
}

TEST_F(ProgramTest, RelativePathIsTakenFromTheWorkingDir) {
  EXPECT_EQ(*FindProgram("bin/train", folder_, ""), folder_ + "/bin/train");
}

TEST_F(ProgramTest, MissingFolderIsNamed) {
  const auto found = FindProgram("train", folder_ + "/gone", "/bin");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(found.status().message(), HasSubstr("trial.working_dir"));
  EXPECT_THAT(found.status().message(), HasSubstr(folder_ + "/gone"));
}

TEST_F(ProgramTest, MissingProgramIsNamed) {
  EXPECT_THAT(FindProgram("bin/gone", folder_, "/bin").status().message(),
              HasSubstr(folder_ + "/bin/gone"));
  EXPECT_THAT(FindProgram("gone", folder_, "/bin:/x").status().message(),
              HasSubstr("'gone' in PATH '/bin:/x'"));
}

TEST_F(ProgramTest, FileWithoutTheExecuteBitIsNoProgram) {
  const auto found = FindProgram("bin/data", folder_, "");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(FindProgram("data", folder_, folder_ + "/bin").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace rung
