#include "trial_runner/worker/gang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <cstdlib>
#include <filesystem>
#include <future>

namespace rung::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class GangTest : public ::testing::Test {
 protected:
  GangTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-gang-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    home_.emplace(WorkerHome::Open(folder_ + "/home").value());
    environment_.emplace(GangEnvironment{.io = io_,
                                         .home = *home_,
                                         .requests = requests_,
                                         .disk = disk_,
                                         .ports = ports_,
                                         .gpus = gpus_,
                                         .shim_path = RUNG_BINARY_DIR "/bin/rung-shim",
                                         .outer = {"PATH=/usr/bin:/bin"}});
  }
  ~GangTest() override {
    gang_.reset();
    home_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Make(std::vector<std::string> command, int32_t processes, int32_t gpus = 0) {
    gang_.emplace(
        *environment_,
        AttemptSpec{.attempt = {.trial = {.experiment = {1}, .number = {1}}, .attempt = 0},
                    .params_json = "{}",
                    .command = std::move(command),
                    .working_dir = folder_,
                    .processes = processes,
                    .per_process = {.gpus = gpus}},
        [this](Event event) { events_.push_back(std::move(event)); },
        [](int32_t, RequestId, std::string_view) {});
  }
  /// As a disk that does not answer: launches wait behind work that ends with ReleaseTheDisk.
  void HoldTheDisk() {
    disk_.Run(Lane(), [held = released_.get_future().share()] {
      held.wait();
      return [] {};
    });
  }
  void ReleaseTheDisk() { released_.set_value(); }
  /// Returns when everything that was asked of the disk is done.
  void AwaitDisk() {
    bool done = false;
    disk_.Run(Lane(), [&done] { return [&done] { done = true; }; });
    const auto work = boost::asio::make_work_guard(io_);
    while (!done) io_.run_one();
  }
  /// Of a gang in `folder_` that keeps its checkpoints at home.
  std::string Lane() const { return "launch  " + folder_; }
  void AwaitEvent() {
    const auto work = boost::asio::make_work_guard(io_);
    while (events_.empty()) io_.run_one();
  }
  LaunchFailed OnlyFailure() const {
    EXPECT_THAT(events_, SizeIs(1));
    return std::get<LaunchFailed>(events_.at(0));
  }

  std::string folder_;
  std::promise<void> released_;
  boost::asio::io_context io_;
  DiskWork disk_{io_};
  RequestTable requests_;
  PortPool ports_{0};
  GpuSlots gpus_{std::vector<Gpu>()};
  std::optional<WorkerHome> home_;
  std::optional<GangEnvironment> environment_;
  std::vector<Event> events_;
  std::optional<Gang> gang_;
};

TEST_F(GangTest, SignalsToAGangThatCouldNotBeLaunchedReachNobody) {
  Make({"no-such-program"}, 2);
  gang_->Terminate(0);
  gang_->Launch();
  AwaitEvent();
  // The runner learns of it by an event; what it had in hand before may still be a signal.
  gang_->Terminate(0);
  gang_->Kill(1);
  EXPECT_EQ(OnlyFailure().cause, ExitCause::kRefused);
}

TEST_F(GangTest, SignalWhileTheFilesArePreparedEndsTheLaunch) {
  HoldTheDisk();
  Make({"true"}, 2);
  gang_->Launch();
  gang_->Terminate(0);
  gang_->Terminate(1);
  EXPECT_EQ(OnlyFailure().cause, ExitCause::kCouldNotStart);
  ReleaseTheDisk();
  AwaitDisk();
  EXPECT_THAT(events_, SizeIs(1));  // what comes from the disk starts nothing any more
}

TEST_F(GangTest, DiskThatHangsEndsTheLaunchAfterAWhile) {
  environment_->disk_wait = std::chrono::milliseconds(1);
  HoldTheDisk();
  Make({"true"}, 1);
  gang_->Launch();
  AwaitEvent();
  EXPECT_EQ(OnlyFailure().cause, ExitCause::kCouldNotStart);
  EXPECT_THAT(OnlyFailure().message, HasSubstr("has not answered"));
  ReleaseTheDisk();
}

TEST_F(GangTest, CommandThatCannotBeMadeIsItsOwnFault) {
  Make({"echo {lr"}, 1);
  gang_->Launch();
  EXPECT_EQ(OnlyFailure().cause, ExitCause::kFailed);
}

TEST_F(GangTest, MissingGpusAreTheMachinesFault) {
  Make({"true"}, 1, 1);
  gang_->Launch();
  AwaitEvent();
  EXPECT_EQ(OnlyFailure().cause, ExitCause::kCouldNotStart);
  EXPECT_THAT(OnlyFailure().message, HasSubstr("GPUs"));
}

}  // namespace
}  // namespace rung::worker
