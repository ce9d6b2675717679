#include "clients/cli/daemon.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace rung::cli {
namespace {

using std::chrono::milliseconds;

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    std::string name = std::filesystem::temp_directory_path() / "rung-daemon-XXXXXX";
    folder_ = mkdtemp(name.data());
    lock_ = folder_ / "daemon.lock";
    std::ofstream(lock_) << "";
    log_ = folder_ / "daemon.log";
  }
  ~DaemonTest() override {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  // A shell that runs `script` as a daemon; its program is what /bin/sh leads to. `kHold` opens the
  // lock file and keeps it open.
  static constexpr const char* kHold = "exec 9<>daemon.lock; ";
  void Start(const std::string& script) {
    const auto pid = StartDaemon({.program = Shell(),
                                  .arguments = {"-c", script},
                                  .env = {{"RUNG_TEST", "a b"}},
                                  .folder = folder_,
                                  .log = log_});
    ASSERT_TRUE(pid.ok()) << pid.status();
    pid_ = *pid;
  }
  static std::filesystem::path Shell() { return std::filesystem::canonical("/bin/sh"); }
  static std::string ShellName() { return Shell().filename(); }

  // Blocks until the daemon wrote the line `ready`.
  void AwaitReady() const {
    while (LogEnd(log_, 1) != "ready\n") usleep(1000);
  }

  std::filesystem::path folder_;
  std::filesystem::path lock_;
  std::filesystem::path log_;
  pid_t pid_ = 0;
};

TEST_F(DaemonTest, RunsInASessionOfItsOwnWithItsLogAndFolder) {
  Start(std::string(kHold) + "pwd; echo \"$RUNG_TEST\"; cat; echo ready; sleep 60 & wait");
  AwaitReady();
  EXPECT_EQ(getsid(pid_), pid_);
  EXPECT_EQ(LogEnd(log_, 10),
            std::filesystem::canonical(folder_).string() + "\na b\nready\n");  // cat: no input
  EXPECT_TRUE(IsDaemon(pid_, ShellName(), lock_));
  kill(-pid_, SIGKILL);
}

TEST_F(DaemonTest, IsNotAnotherProcessThatGotThePid) {
  Start(std::string(kHold) + "mkfifo daemon.fifo; echo ready; read forever < daemon.fifo");
  AwaitReady();
  EXPECT_TRUE(IsDaemon(pid_, ShellName(), lock_));
  EXPECT_FALSE(IsDaemon(pid_, "rung-scheduler", lock_));  // another program
  EXPECT_FALSE(IsDaemon(pid_, ShellName(), folder_ / "absent.lock"));
  EXPECT_FALSE(IsDaemon(0, ShellName(), lock_));
  // The same program, a daemon of another folder: it does not hold this one's lock file.
  const std::filesystem::path other = folder_ / "other.lock";
  std::ofstream(other) << pid_;
  EXPECT_FALSE(IsDaemon(pid_, ShellName(), other));
}

TEST_F(DaemonTest, IsKnownAfterAStepOfTheWallClock) {
  Start(std::string(kHold) + "mkfifo daemon.fifo; echo ready; read forever < daemon.fifo");
  AwaitReady();
  // As after a step of an hour ahead: what was written at the start looks older than the process.
  std::filesystem::last_write_time(
      lock_, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_TRUE(IsDaemon(pid_, ShellName(), lock_));
}

TEST_F(DaemonTest, IsEndedBySigterm) {
  Start(std::string(kHold) + "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done");
  AwaitReady();
  const auto end = EndDaemon(pid_, ShellName(), lock_, milliseconds(20'000));
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(*end, DaemonEnd::kTerminated);
  pid_ = 0;
}

TEST_F(DaemonTest, IsKilledWhenItIgnoresSigterm) {
  Start(std::string(kHold) + "trap '' TERM; echo ready; while :; do sleep 0.01; done");
  AwaitReady();
  const auto end = EndDaemon(pid_, ShellName(), lock_, milliseconds(50));
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(*end, DaemonEnd::kKilled);
  pid_ = 0;
}

TEST_F(DaemonTest, SaysHowAChildEnded) {
  Start("exit 7");
  std::string end;
  while ((end = ChildEnd(pid_)).empty()) usleep(1000);
  EXPECT_EQ(end, "exited with status 7");
  pid_ = 0;
}

TEST_F(DaemonTest, LogEndGivesTheLastLines) {
  std::ofstream(log_) << "a\nb\nc\n";
  EXPECT_EQ(LogEnd(log_, 2), "b\nc\n");
  EXPECT_EQ(LogEnd(log_, 9), "a\nb\nc\n");
  EXPECT_EQ(LogEnd(folder_ / "absent", 9), "");
}

TEST_F(DaemonTest, FindsProgramsOnPathOrSaysWhereItLooked) {
  EXPECT_TRUE(FindProgram("sh").ok());
  const auto absent = FindProgram("rung-no-such-program");
  EXPECT_EQ(absent.status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace rung::cli
