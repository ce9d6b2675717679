#include "trial_runner/worker/rank_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "trial_runner/shim/process_tree.h"

namespace rung::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kPatienceMs = 60'000;
constexpr AttemptId kAttempt{.trial = {.experiment = {1}, .number = {1}}, .attempt = 0};

/// This process is the daemon: shims are its children, and so is what killed shims leave.
class RankProcessTest : public ::testing::Test {
 protected:
  RankProcessTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-rank-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    mkfifo((folder_ + "/fifo").c_str(), 0600);
    fifo_ = open((folder_ + "/fifo").c_str(), O_RDWR | O_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // as main.cc does
    process_ = std::make_shared<RankProcess>(
        io_, kAttempt, 0, [this](Event event) { events_.push_back(std::move(event)); },
        [](const std::function<void()>& then) { then(); });
  }
  ~RankProcessTest() override {
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(fifo_);
    std::filesystem::remove_all(folder_);
  }

  void Start(std::vector<std::string> command) {
    const absl::Status status =
        process_->Start({.shim_path = shim_path_,
                         .command = std::move(command),
                         .working_dir = folder_,
                         .environment = {"PATH=/usr/bin:/bin", "RUNG_SOCKET=" + folder_ + "/s"},
                         .stdout_path = folder_ + "/out",
                         .stderr_path = folder_ + "/err"});
    ASSERT_TRUE(status.ok()) << status;
  }
  /// Children of this process that this test brought, dead ones that nobody has reaped among them.
  std::vector<pid_t> NewChildren() const {
    std::vector<pid_t> children = Children(getpid());
    std::erase_if(children, [this](pid_t pid) { return std::ranges::count(earlier_, pid) > 0; });
    return children;
  }
  /// A pidfd of the process whose number it wrote to the FIFO.
  int FifoProcess() const {
    std::string line;
    pollfd p{.fd = fifo_, .events = POLLIN, .revents = 0};
    for (char c = 0; poll(&p, 1, kPatienceMs) == 1 && read(fifo_, &c, 1) == 1 && c != '\n';) {
      line += c;
    }
    return static_cast<int>(syscall(SYS_pidfd_open, std::stol(line), 0));
  }
  static bool Ends(int pid_fd) {
    pollfd p{.fd = pid_fd, .events = POLLIN, .revents = 0};
    const bool ended = poll(&p, 1, kPatienceMs) == 1;
    close(pid_fd);
    return ended;
  }

  const std::vector<pid_t> earlier_ = Children(getpid());
  std::string folder_;
  int fifo_ = -1;
  std::string shim_path_ = RUNG_BINARY_DIR "/bin/rung-shim";
  boost::asio::io_context io_;
  std::vector<Event> events_;
  std::shared_ptr<RankProcess> process_;
};

TEST_F(RankProcessTest, ShimOfARankThatCouldNotStartIsReapedAlsoWhenItsOwnerIsGone) {
  Start({"/does/not/exist"});
  while (events_.empty()) io_.run_one();
  ASSERT_TRUE(std::holds_alternative<RankCouldNotStart>(events_[0]));
  process_->Detach();  // what the event brings about: the attempt is closed
  io_.run();
  EXPECT_THAT(NewChildren(), IsEmpty());
  EXPECT_THAT(events_, SizeIs(1));
}

TEST_F(RankProcessTest, KilledShimLeavesNoProcessAndOthersAreSpared) {
  const pid_t other = fork();
  if (other == 0) {
    execlp("sleep", "sleep", "1000", nullptr);
    _exit(127);
  }
  Start({"sh", "-c",
         "(setsid sh -c 'echo $$ >fifo; exec sleep 1000' &); "
         "(setsid " RUNG_BINARY_DIR "/bin/ended_main_thread fifo &); sleep 1000"});
  const int first = FifoProcess();
  const int second = FifoProcess();
  for (const pid_t child : NewChildren()) {
    if (child != other) kill(child, SIGKILL);
  }
  io_.run();
  EXPECT_TRUE(Ends(first));
  EXPECT_TRUE(Ends(second));
  EXPECT_THAT(NewChildren(), ElementsAre(other));
  EXPECT_EQ(waitpid(other, nullptr, WNOHANG), 0);  // it lives
  ASSERT_THAT(events_, SizeIs(3));
  EXPECT_EQ(std::get<RankExited>(events_[1]).signal, SIGKILL);
  EXPECT_TRUE(std::holds_alternative<RankGone>(events_[2]));
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

TEST_F(RankProcessTest, ShimThatIsKilledAfterItsLeaderEndedLeavesNoProcess) {
  shim_path_ = folder_ + "/shim";  // says what a shim says by its control connection, number 3
  std::ofstream(shim_path_) << "#!/bin/sh\n"
                            << "cd " << folder_ << "\n"
                            << "echo started $$ >&3\n"
                            << "setsid sh -c 'echo $$ >fifo; exec sleep 1000' 3>&- &\n"
                            << "until test -e go; do sleep 0.01; done\n"
                            << "echo exited code 0 >&3\n"
                            << "kill -KILL $$\n";
  chmod(shim_path_.c_str(), 0700);
  Start({"true"});
  const int helper = FifoProcess();
  std::ofstream(folder_ + "/go");
  io_.run();
  EXPECT_TRUE(Ends(helper));
  EXPECT_THAT(NewChildren(), IsEmpty());
  ASSERT_THAT(events_, SizeIs(3));
  EXPECT_EQ(std::get<RankExited>(events_[1]).code, 0);
}

}  // namespace
}  // namespace rung::worker
