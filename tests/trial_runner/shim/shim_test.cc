#include "trial_runner/shim/shim.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "trial_runner/launch/shim_launch.h"

namespace rung {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kPatienceMs = 30'000;  // only a hang takes that long

bool Readable(int fd) {
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&p, 1, kPatienceMs) == 1;
}

/// From now on close_range fails in this thread and in what it starts, as before Linux 5.11.
bool WithoutCloseRange() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = std::size(program), .filter = program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Follows a process by a pidfd: readable as soon as it is dead, whoever reaps it and whenever.
class Process {
 public:
  explicit Process(pid_t pid) : fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  ~Process() { close(fd_); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  bool Found() const { return fd_ >= 0; }
  bool Ends() const { return Readable(fd_); }

 private:
  int fd_;
};

class ShimTest : public ::testing::Test {
 protected:
  ShimTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-shim-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    mkfifo(Path("fifo").c_str(), 0600);
    fifo_ = open(Path("fifo").c_str(), O_RDWR | O_CLOEXEC);
  }
  ~ShimTest() override {
    close(fifo_);
    if (shim_.control_fd >= 0) close(shim_.control_fd);
    if (shim_.pid > 0 && !reaped_) {
      kill(shim_.pid, SIGKILL);
      waitpid(shim_.pid, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  void Start(std::vector<std::string> command, const std::string& working_dir) {
    const absl::StatusOr<LaunchedShim> shim =
        LaunchShim({.shim_path = RUNG_BINARY_DIR "/bin/rung-shim",
                    .command = std::move(command),
                    .working_dir = working_dir,
                    .environment = {"PATH=/usr/bin:/bin"},
                    .stdout_path = Path("out"),
                    .stderr_path = Path("err"),
                    .lock_fd = fifo_,  // any descriptor will do
                    .descriptors_max = descriptors_max_});
    ASSERT_TRUE(shim.ok()) << shim.status();
    shim_ = *shim;
  }
  void StartScript(const std::string& script) { Start({"sh", "-c", script}, folder_); }

  /// The next line that the shim says; empty at the end of the connection.
  std::string Line() {
    while (buffer_.find('\n') == std::string::npos) {
      char bytes[256];
      if (!Readable(shim_.control_fd)) return "(nothing was said)";
      const ssize_t size = read(shim_.control_fd, bytes, sizeof bytes);
      if (size <= 0) return "";
      buffer_.append(bytes, static_cast<size_t>(size));
    }
    const size_t end = buffer_.find('\n');
    const std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return line;
  }
  pid_t StartedPid() {
    const std::string line = Line();
    EXPECT_THAT(line, StartsWith("started "));
    return static_cast<pid_t>(std::stol(line.substr(8)));
  }
  void Command(const std::string& command) {
    const std::string line = command + "\n";
    ASSERT_EQ(write(shim_.control_fd, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  void HangUp() { close(std::exchange(shim_.control_fd, -1)); }
  int ShimExitStatus() {
    int status = 0;
    waitpid(shim_.pid, &status, 0);
    reaped_ = true;
    return status;
  }

  /// A line that a process of the script wrote to `fifo`.
  std::string FifoLine() {
    std::string line;
    for (char c = 0; Readable(fifo_) && read(fifo_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  pid_t FifoPid() { return static_cast<pid_t>(std::stol(FifoLine())); }

  /// A script whose helper writes its pid to `fifo` and does not end by itself.
  void KillReachesTheHelperOf(const std::string& script) {
    StartScript(script);
    StartedPid();
    const Process helper(FifoPid());
    ASSERT_TRUE(helper.Found());
    Command("kill");
    EXPECT_EQ(Line(), "exited signal 9");
    EXPECT_EQ(Line(), "empty");
    EXPECT_TRUE(helper.Ends());
  }

  std::string folder_;
  int fifo_ = -1;
  LaunchedShim shim_;
  bool reaped_ = false;
  int64_t descriptors_max_ = 0;
  std::string buffer_;
};

TEST_F(ShimTest, TellsStartExitCodeAndThatNothingIsLeft) {
  StartScript("exit 3");
  StartedPid();
  EXPECT_EQ(Line(), "exited code 3");
  EXPECT_EQ(Line(), "empty");
  EXPECT_EQ(Line(), "");
  EXPECT_EQ(ShimExitStatus(), 0);
}

TEST_F(ShimTest, TellsTheSignalThatEndedTheLeader) {
  StartScript("kill -SEGV $$");
  StartedPid();
  EXPECT_EQ(Line(), "exited signal 11");
  EXPECT_EQ(Line(), "empty");
}

TEST_F(ShimTest, MissingProgramIsNamedWithTheReason) {
  Start({"/does/not/exist", "x"}, folder_);
  EXPECT_EQ(Line(), "could not start: program '/does/not/exist': No such file or directory");
  EXPECT_EQ(Line(), "");
  EXPECT_EQ(WEXITSTATUS(ShimExitStatus()), 1);
}

TEST_F(ShimTest, FileThatIsNoProgramIsNamedWithTheReason) {
  close(open(Path("data").c_str(), O_CREAT | O_WRONLY, 0600));
  Start({Path("data")}, folder_);
  EXPECT_THAT(Line(), EndsWith("/data': Permission denied"));
}

TEST_F(ShimTest, MissingFolderIsNamedWithTheReason) {
  Start({"true"}, "/does/not/exist");
  EXPECT_EQ(Line(), "could not start: folder '/does/not/exist': No such file or directory");
}

TEST_F(ShimTest, WhatTheMachineCannotDoIsToldApart) {
  descriptors_max_ = 3;  // 0, 1 and 2: no pipe can be made
  Start({"true"}, folder_);
  EXPECT_EQ(Line(), "could not start here: pipe: Too many open files");
  EXPECT_EQ(Line(), "");
}

TEST_F(ShimTest, RankLeadsAGroupInTheShimsSession) {
  StartScript("exec cat fifo");
  const pid_t rank = StartedPid();
  EXPECT_EQ(getsid(rank), shim_.pid);
  EXPECT_EQ(getpgid(rank), rank);
  Command("kill");
  EXPECT_EQ(Line(), "exited signal 9");
}

TEST_F(ShimTest, TermReachesTheLeaderOnly) {
  StartScript(
      "sh -c 'trap \"touch helper_got_term\" TERM; touch up; while :; do sleep 1000; done' &"
      "trap 'exit 7' TERM; until test -e up; do sleep 0.01; done; echo ready >fifo; wait");
  StartedPid();
  ASSERT_EQ(FifoLine(), "ready");
  Command("term");
  EXPECT_EQ(Line(), "exited code 7");
  EXPECT_EQ(Line(), "empty");
  EXPECT_FALSE(std::filesystem::exists(Path("helper_got_term")));
}

TEST_F(ShimTest, KillReachesAHelperWithItsOwnSession) {
  KillReachesTheHelperOf("setsid sh -c 'echo $$ >fifo; exec sleep 1000' & exec sleep 1000");
}

TEST_F(ShimTest, KillReachesADoubleForkedDaemon) {
  KillReachesTheHelperOf("(setsid sh -c 'echo $$ >fifo; exec sleep 1000' &) ; exec sleep 1000");
}

TEST_F(ShimTest, WhatALeaderLeavesBehindIsKilledBeforeEmpty) {
  StartScript("(setsid sh -c 'trap \"\" TERM; echo $$ >fifo; exec sleep 1000' &) ; exit 0");
  StartedPid();
  EXPECT_EQ(Line(), "exited code 0");
  EXPECT_EQ(Line(), "empty");
  // It may have died before it said its number; whatever it was, the shim has no child left.
  EXPECT_EQ(ShimExitStatus(), 0);
}

TEST_F(ShimTest, KillReachesAHelperWhoseMainThreadHasEnded) {
  KillReachesTheHelperOf("setsid " RUNG_BINARY_DIR "/bin/ended_main_thread fifo & exec sleep 1000");
}

TEST_F(ShimTest, KillReachesALeaderWhoseMainThreadHasEnded) {
  Start({RUNG_BINARY_DIR "/bin/ended_main_thread", "fifo"}, folder_);
  EXPECT_EQ(StartedPid(), FifoPid());
  Command("kill");
  EXPECT_EQ(Line(), "exited signal 9");
  EXPECT_EQ(Line(), "empty");
}

TEST_F(ShimTest, GroupKillByTheRankSparesTheShim) {
  StartScript("kill -KILL 0");
  StartedPid();
  EXPECT_EQ(Line(), "exited signal 9");
  EXPECT_EQ(Line(), "empty");
}

TEST_F(ShimTest, RankDiesWithAKilledShim) {
  StartScript("echo $$ >fifo; exec sleep 1000");
  const Process rank(StartedPid());
  FifoLine();
  ASSERT_TRUE(rank.Found());
  kill(shim_.pid, SIGKILL);
  EXPECT_TRUE(rank.Ends());
}

TEST_F(ShimTest, WithoutItsDaemonItAsksTheLeaderToEnd) {
  StartScript("trap 'echo ended >fifo; exit 0' TERM; echo ready >fifo; while :; do sleep 1; done");
  const Process rank(StartedPid());
  EXPECT_EQ(FifoLine(), "ready");
  HangUp();
  EXPECT_EQ(FifoLine(), "ended");
  EXPECT_TRUE(rank.Ends());
  EXPECT_EQ(ShimExitStatus(), 0);
}

TEST_F(ShimTest, WithoutItsDaemonItKillsWhatIgnoresSigterm) {
  StartScript("trap '' TERM; setsid sh -c 'echo $$ >fifo; exec sleep 1000' & exec sleep 1000");
  const Process rank(StartedPid());
  const Process helper(FifoPid());
  HangUp();
  EXPECT_TRUE(rank.Ends());
  EXPECT_TRUE(helper.Ends());
  EXPECT_EQ(ShimExitStatus(), 0);
}

TEST_F(ShimTest, RankSeesNoDescriptorButTheStandardOnes) {
  StartScript("echo $(ls /proc/self/fd) >fifo; exit 0");
  StartedPid();
  EXPECT_EQ(FifoLine(), "0 1 2 3");  // 3: the folder that ls itself reads
  EXPECT_EQ(Line(), "exited code 0");
}

TEST_F(ShimTest, RankSeesNoDescriptorAlsoWhereCloseRangeIsNotKnown) {
  std::thread([this] {  // the filter is for ever: on a thread of its own
    if (WithoutCloseRange()) StartScript("echo $(ls /proc/self/fd) >fifo; exit 0");
  })
      .join();
  if (shim_.pid < 0) GTEST_SKIP() << "this machine lets nobody filter system calls";
  StartedPid();
  EXPECT_EQ(FifoLine(), "0 1 2 3");
  EXPECT_EQ(Line(), "exited code 0");
}

TEST_F(ShimTest, RankHasItsOwnLimitOfOpenDescriptors) {
  descriptors_max_ = 77;
  StartScript("ulimit -S -n >fifo; ulimit -H -n >fifo; exit 0");
  StartedPid();
  EXPECT_EQ(FifoLine(), "77");
  rlimit own{};
  getrlimit(RLIMIT_NOFILE, &own);
  EXPECT_EQ(FifoLine(), std::to_string(own.rlim_max));
}

TEST_F(ShimTest, NoShimStartsWithoutTheLockThatItIsToHold) {
  const absl::StatusOr<LaunchedShim> shim =
      LaunchShim({.shim_path = RUNG_BINARY_DIR "/bin/rung-shim",
                  .command = {"true"},
                  .working_dir = folder_,
                  .environment = {},
                  .stdout_path = Path("out"),
                  .stderr_path = Path("err"),
                  .lock_fd = 1'000'000});
  EXPECT_EQ(shim.status().message(), "lock of a rank: Bad file descriptor");
}

}  // namespace
}  // namespace rung
