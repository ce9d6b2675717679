#include "clients/cli/start_check.h"

#include <gtest/gtest.h>

namespace rung::cli {
namespace {

std::string Why(const std::string& trial) {
  return WhyNotStartable({.text = R"({"trial": )" + trial + "}", .working_dir = "/"}, "/bin");
}

TEST(WhyNotStartable, IsEmptyForWhatAWorkerHereCouldStart) {
  EXPECT_EQ(Why(R"({"command": ["sh"]})"), "");
  EXPECT_EQ(Why(R"({"command": ["./bin/sh"]})"), "");
  EXPECT_EQ(Why(R"({"command": ["sh"], "working_dir": "/bin", "env": {"PATH": "/nosuch:/bin"}})"),
            "");
}

TEST(WhyNotStartable, NamesAFolderAndAProgramThatAreNotThere) {
  EXPECT_EQ(Why(R"({"command": ["sh"], "working_dir": "/nosuch"})"),
            "trial.working_dir: there is no folder '/nosuch' here");
  EXPECT_EQ(Why(R"({"command": ["pyhton3"]})"),
            "trial.command[0]: no executable file 'pyhton3' in PATH '/bin'");
  EXPECT_EQ(Why(R"({"command": ["sh"], "env": {"PATH": "/nosuch"}})"),
            "trial.command[0]: no executable file 'sh' in PATH '/nosuch'");
}

TEST(WhyNotStartable, SaysNothingOfWhatItCannotKnow) {
  EXPECT_EQ(Why(R"({"command": ["{program}"]})"), "");
  EXPECT_EQ(Why(R"({"command": "sh"})"), "");
  EXPECT_EQ(WhyNotStartable({.text = "{}", .working_dir = "/"}, "/bin"), "");  // ask/tell
}

}  // namespace
}  // namespace rung::cli
