#include "trial_runner/worker/gang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace rung::worker {
namespace {

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
                                         .ports = ports_,
                                         .gpus = gpus_,
                                         .shim_path = RUNG_BINARY_DIR "/bin/rung-shim",
                                         .outer = {"PATH=/usr/bin:/bin"}});
  }
  ~GangTest() override {
    home_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string folder_;
  boost::asio::io_context io_;
  RequestTable requests_;
  PortPool ports_{0};
  GpuSlots gpus_{std::vector<Gpu>()};
  std::optional<WorkerHome> home_;
  std::optional<GangEnvironment> environment_;
  std::vector<Event> events_;
};

TEST_F(GangTest, SignalsToAGangThatCouldNotBeLaunchedReachNobody) {
  Gang gang(
      *environment_,
      {.attempt = {.trial = {.experiment = {1}, .number = {1}}, .attempt = 0},
       .params_json = "{}",
       .command = {"no-such-program"},
       .working_dir = folder_,
       .processes = 2},
      [this](Event event) { events_.push_back(std::move(event)); },
      [](int32_t, RequestId, std::string_view) {});
  gang.Terminate(0);
  gang.Launch();
  // The runner learns of it by an event; what it had in hand before may still be a signal.
  gang.Terminate(0);
  gang.Kill(1);
  ASSERT_THAT(events_, SizeIs(1));
  EXPECT_TRUE(std::get<LaunchFailed>(events_[0]).refused);
}

}  // namespace
}  // namespace rung::worker
