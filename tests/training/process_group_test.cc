#include "trial_runner/training/process_group.h"

#include <ATen/ops/full.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <thread>

#include "tests/training/gang.h"
#include "trial_runner/training/trial_main.h"

namespace rung::training {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

void Require(bool holds, const char* what) {
  if (!holds) throw TrainingError(what);
}

/// Rank program: every collective, with values that show who took part.
int RunCollectives(const nlohmann::json&) {
  const auto group = ProcessGroup::Connect(
      RankEnvironment::FromEnvironment(),
      {.device = ProcessGroup::DeviceChoice::kCpu, .timeout = std::chrono::seconds(120)});
  const int rank = group->rank();
  const int world = group->world_size();
  const std::vector<double> sums = group->AllReduceSums(std::vector<double>{1.0, 1.0 * rank});
  Require(sums[0] == world && sums[1] == world * (world - 1) / 2, "sums");
  Require(group->AllReduceSums({}).empty(), "no sums");
  const std::vector<std::int64_t> values = {rank, rank == 0 ? kLowest : kHighest};
  const ProcessGroup::Extremes extremes = group->AllReduceExtremes(values);
  Require(extremes.min[0] == 0 && extremes.max[0] == world - 1, "extremes");
  Require(extremes.min[1] == kLowest && (world == 1 || extremes.max[1] == kHighest),
          "far extremes");
  const std::vector<NamedTensor> tensors = {
      {"float", at::full({3, 2}, rank, at::TensorOptions(at::kFloat)).set_requires_grad(true)},
      {"long", at::full({}, 10 + rank, at::TensorOptions(at::kLong))}};
  group->Broadcast(tensors);
  Require(tensors[0].tensor.sum().item<float>() == 0, "broadcast of floats");
  Require(tensors[1].tensor.item<std::int64_t>() == 10, "broadcast of integers");
  Require(group->BroadcastText(rank == 0 ? "hello" : "") == "hello", "text");
  Require(group->BroadcastText("").empty(), "empty text");
  group->Barrier();
  group->Shutdown();
  group->Shutdown();
  if (world > 1) {
    bool refused = false;
    try {
      group->Barrier();
    } catch (const TrainingError&) {
      refused = true;
    }
    Require(refused, "a collective after the end");
  }
  return 0;
}

[[maybe_unused]] const bool kRunCollectives = RegisterRankProgram("collectives", RunCollectives);

TEST(ProcessGroup, CollectivesAgreeInWorldsOfOneTwoAndFive) {
  for (const int world : {1, 2, 5}) {
    Gang gang("collectives", world, nlohmann::json::object());
    for (const RankEnd& end : gang.WaitAll()) EXPECT_EQ(end.status, 0) << end.error;
  }
}

/// Rank program: rank 0 alone does what takes twice as long as a collective may, or ends.
int AwaitRankZero(const nlohmann::json& arguments) {
  const std::chrono::seconds timeout(5);
  const auto group =
      ProcessGroup::Connect(RankEnvironment::FromEnvironment(),
                            {.device = ProcessGroup::DeviceChoice::kCpu, .timeout = timeout});
  group->Barrier();
  if (group->rank() == 0 && arguments.at("ends").get<bool>()) return 3;
  for (int round = 0; round < 2; ++round) {
    if (group->rank() == 0 && round == 0) std::this_thread::sleep_for(2 * timeout);
    group->AwaitRankZero();
  }
  Require(group->AllReduceSums(std::vector<double>{1.0})[0] == group->world_size(), "sums");
  group->Shutdown();
  return 0;
}

[[maybe_unused]] const bool kAwaitRankZero = RegisterRankProgram("await_rank_zero", AwaitRankZero);

TEST(ProcessGroup, RankZeroMayTakeLongerThanACollective) {
  for (const int world : {1, 3}) {
    Gang gang("await_rank_zero", world, {{"ends", false}});
    for (const RankEnd& end : gang.WaitAll()) EXPECT_EQ(end.status, 0) << end.error;
  }
}

TEST(ProcessGroup, NobodyWaitsForARankZeroThatHasEnded) {
  Gang gang("await_rank_zero", 2, {{"ends", true}});
  EXPECT_EQ(gang.Wait(0).status, 3);
  EXPECT_EQ(gang.Wait(1).status, 1);  // 137 were it killed at the limit
}

TEST(ProcessGroup, RankWhoseMasterNeverComesFailsAtTheTimeout) {
  RankEnvironment environment;
  environment.rank = 1;
  environment.world_size = 2;
  environment.master_addr = "127.0.0.1";
  environment.master_port = 1;  // a port that only root may serve, and nobody does
  EXPECT_THROW(ProcessGroup::Connect(environment, {.device = ProcessGroup::DeviceChoice::kCpu,
                                                   .timeout = std::chrono::seconds(1)}),
               c10::Error);
}

TEST(ProcessGroup, WorldOfTwoNeedsAMeetingPoint) {
  RankEnvironment environment;
  environment.world_size = 2;
  EXPECT_THAT([&] { ProcessGroup::Connect(environment); },
              ThrowsMessage<TrainingError>(HasSubstr("MASTER_ADDR and MASTER_PORT must be set")));
}

TEST(ProcessGroup, GpuIsRefusedByAProgramWithoutCuda) {
  EXPECT_THAT([] { ProcessGroup::Connect({}, {.device = ProcessGroup::DeviceChoice::kGpu}); },
              ThrowsMessage<TrainingError>(HasSubstr("link it with rung_training_gpu")));
  EXPECT_TRUE(ProcessGroup::Connect({})->device().is_cpu());
}

/// Sets environment variables for one test.
class RankEnvironmentTest : public ::testing::Test {
 protected:
  void Set(const char* name, const char* value) {
    ::setenv(name, value, 1);
    names_.push_back(name);
  }
  void TearDown() override {
    for (const char* name : names_) ::unsetenv(name);
  }

 private:
  std::vector<const char*> names_;
};

TEST_F(RankEnvironmentTest, IsAWorldOfOneByHand) {
  const RankEnvironment environment = RankEnvironment::FromEnvironment();
  EXPECT_EQ(environment.rank, 0);
  EXPECT_EQ(environment.world_size, 1);
}

TEST_F(RankEnvironmentTest, ReadsWhatTorchrunSets) {
  Set("RANK", "3");
  Set("WORLD_SIZE", "4");
  Set("LOCAL_RANK", "1");
  Set("MASTER_ADDR", "10.0.0.7");
  Set("MASTER_PORT", "20001");
  Set("TORCHELASTIC_RESTART_COUNT", "2");
  Set("TORCHELASTIC_USE_AGENT_STORE", "True");
  const RankEnvironment environment = RankEnvironment::FromEnvironment();
  EXPECT_EQ(environment.rank, 3);
  EXPECT_EQ(environment.world_size, 4);
  EXPECT_EQ(environment.local_rank, 1);
  EXPECT_EQ(environment.master_addr, "10.0.0.7");
  EXPECT_EQ(environment.master_port, 20001);
  EXPECT_EQ(environment.attempt, 2);
  EXPECT_TRUE(environment.agent_store);
}

TEST_F(RankEnvironmentTest, WrongNumbersNameTheirVariable) {
  Set("WORLD_SIZE", "2");
  Set("RANK", "2");
  EXPECT_THAT([] { RankEnvironment::FromEnvironment(); },
              ThrowsMessage<TrainingError>(HasSubstr("RANK: must be an integer from 0 to 1")));
  Set("RANK", "1");
  Set("MASTER_PORT", "65536");
  EXPECT_THAT([] { RankEnvironment::FromEnvironment(); },
              ThrowsMessage<TrainingError>(HasSubstr("MASTER_PORT")));
}

/// Rank program: ends with an exception of LibTorch.
int ThrowTorchError(const nlohmann::json&) {
  TORCH_CHECK(false, "a tensor problem");
  return 0;
}

[[maybe_unused]] const bool kThrowTorchError = RegisterRankProgram("torch_error", ThrowTorchError);

TEST(RunTrial, TorchErrorBecomesOneLineAndStatusOne) {
  Gang gang("torch_error", 1, nlohmann::json::object());
  const RankEnd end = gang.Wait(0);
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.error, "error: a tensor problem\n");
}

TEST(RunTrial, ReturnsWhatTheBodyReturns) {
  EXPECT_EQ(RunTrial([] { return 4; }), 4);
}

}  // namespace
}  // namespace rung::training
