#include "trial_runner/training/data_parallel.h"

#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>

#include "tests/training/gang.h"
#include "tests/training/matrix.h"
#include "trial_runner/training/adamw.h"

namespace rung::training {
namespace {

using ::testing::HasSubstr;

/// A loaded machine may take seconds to start a rank, so only the test that waits for the timeout
/// has a short one.
constexpr int kTimeoutSeconds = 120;
constexpr int kShortTimeoutSeconds = 15;

std::unique_ptr<ProcessGroup> Connect(const nlohmann::json& arguments) {
  const std::chrono::seconds timeout(arguments.value("timeout_s", kTimeoutSeconds));
  return ProcessGroup::Connect(RankEnvironment::FromEnvironment(),
                               {.device = ProcessGroup::DeviceChoice::kCpu, .timeout = timeout});
}

DataParallel* running = nullptr;  // for the signal handler of a rank program

/// Rank program: trains until told otherwise; in step `step` rank `rank` does `fault`. Prints the
/// number of steps done.
int TrainWithFault(const nlohmann::json& arguments) {
  const auto group = Connect(arguments);
  const std::string fault = arguments.at("fault");
  const bool with_unused = fault == "unused";
  const bool here = group->rank() == arguments.at("rank");
  const Perceptron model(group->device(), 1, with_unused);
  DataParallel trainer(*group, model.parameters(), {}, {.verify_period_steps = 0});
  AdamW optimizer(DecayMatricesOnly(model.parameters(), 0.1), {.learning_rate = 1e-3});
  running = &trainer;
  std::signal(SIGTERM, [](int) { running->RequestStop(); });
  int step = 0;
  for (bool stop = false; !stop && step < 12;) {
    if (here && step == arguments.at("step")) {
      if (fault == "die") ::_exit(3);
      if (fault == "hang") ::pause();
      if (fault == "throw") throw TrainingError("this rank has had enough");
      if (fault == "stop") std::raise(SIGTERM);
      if (fault == "drift") model.parameters()[2].tensor.detach()[3][5] += 1e-7;
    }
    stop = trainer
               .Step({{4,
                       [&] {
                         return model.LossSum({step, step + 1, step + 2, step + 3});
                       }}},
                     [&] { optimizer.Step(); })
               .stop_requested;
    ++step;
  }
  trainer.VerifyReplicas();
  std::printf("%d steps\n", step);
  group->Shutdown();
  return 0;
}

[[maybe_unused]] const bool kTrainWithFault = RegisterRankProgram("fault", TrainWithFault);

/// Rank program: rank 1's model is not rank 0's.
int ConnectUnequal(const nlohmann::json& arguments) {
  const auto group = Connect(arguments);
  std::vector<NamedTensor> parameters = Perceptron(group->device(), 1, false).parameters();
  if (group->rank() == 1) {
    if (arguments.at("shape")) {
      parameters[2].tensor = at::zeros({64, 65}).set_requires_grad(true);
    } else {
      parameters.pop_back();
    }
  }
  const DataParallel trainer(*group, parameters, {});
  return 0;
}

[[maybe_unused]] const bool kConnectUnequal = RegisterRankProgram("unequal", ConnectUnequal);

/// The matrix in worlds of 1, 2 and 4, run once for all tests of it.
class DataParallelMatrix : public ::testing::TestWithParam<MatrixCase> {
 protected:
  static void SetUpTestSuite() {
    for (const int world : {1, 2, 4}) {
      folders[world] = std::make_unique<TemporaryFolder>();
      Gang gang("matrix", world, {{"out", folders[world]->path().string()}, {"gpu", false}});
      for (const RankEnd& end : gang.WaitAll()) EXPECT_EQ(end.status, 0) << end.error;
    }
  }
  static void TearDownTestSuite() { folders.clear(); }

  static std::vector<float> Outcome(int world, int rank) {
    return ReadOutcome(folders.at(world)->path(), GetParam().name, rank);
  }

  inline static std::map<int, std::unique_ptr<TemporaryFolder>> folders;
};

TEST_P(DataParallelMatrix, RanksEndWithTheSameBits) {
  for (const int world : {2, 4}) {
    const std::vector<float> first = Outcome(world, 0);
    ASSERT_FALSE(first.empty());
    for (int rank = 1; rank < world; ++rank) {
      const std::vector<float> other = Outcome(world, rank);
      ASSERT_EQ(other.size(), first.size());
      EXPECT_EQ(std::memcmp(first.data(), other.data(), first.size() * sizeof(float)), 0)
          << "world " << world << ", rank " << rank;
    }
  }
}

TEST_P(DataParallelMatrix, EqualsOneProcessWithTheSameGlobalBatch) {
  const std::vector<float> single = Outcome(1, 0);
  for (const int world : {2, 4}) {
    const std::vector<float> gang = Outcome(world, 0);
    ASSERT_EQ(gang.size(), single.size());
    float largest = 0;
    for (std::size_t i = 0; i < gang.size(); ++i) {
      ASSERT_TRUE(std::isfinite(gang[i]));
      largest = std::max(largest, std::abs(gang[i] - single[i]));
    }
    EXPECT_LE(largest, GetParam().tolerance) << "world " << world;
    RecordProperty("largest_difference_world_" + std::to_string(world), std::to_string(largest));
    std::printf("%s, world %d: largest difference %.2g\n", GetParam().name.c_str(), world,
                static_cast<double>(largest));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, DataParallelMatrix, ::testing::ValuesIn(MatrixCases()),
                         [](const auto& param_info) { return param_info.param.name; });

nlohmann::json Fault(const char* fault, int rank, int step) {
  return {{"fault", fault}, {"rank", rank}, {"step", step}};
}

TEST(DataParallel, RankThatDiesMakesTheOthersFail) {
  Gang gang("fault", 2, Fault("die", 1, 3));
  EXPECT_EQ(gang.Wait(1).status, 3);
  const RankEnd other = gang.Wait(0);
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.error, HasSubstr("error: "));
}

TEST(DataParallel, RankThatThrowsEndsAtOnceAndSoDoTheOthers) {
  Gang gang("fault", 2, Fault("throw", 0, 3));
  const RankEnd thrower = gang.Wait(0);
  EXPECT_EQ(thrower.status, 1);
  EXPECT_EQ(thrower.error, "error: this rank has had enough\n");
  EXPECT_EQ(gang.Wait(1).status, 1);
}

TEST(DataParallel, RankThatHangsMakesTheOthersFailAtTheTimeout) {
  nlohmann::json arguments = Fault("hang", 1, 3);
  arguments["timeout_s"] = kShortTimeoutSeconds;
  Gang gang("fault", 2, arguments);
  const RankEnd other = gang.Wait(0);
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.error, HasSubstr("imed out"));
}

TEST(DataParallel, AllRanksSeeAStopAtTheSameStep) {
  for (const int world : {1, 2, 3}) {
    Gang gang("fault", world, Fault("stop", world - 1, 6));
    // Asked before the seventh step began: that step still updates, then all leave.
    for (const RankEnd& end : gang.WaitAll()) {
      EXPECT_EQ(end.status, 0) << end.error;
      EXPECT_EQ(end.output, "7 steps\n");
    }
  }
}

TEST(DataParallel, ReplicasThatDriftApartAreFoundAndNamed) {
  Gang gang("fault", 2, Fault("drift", 1, 3));
  for (const RankEnd& end : gang.WaitAll()) {
    EXPECT_EQ(end.status, 1);
    EXPECT_THAT(end.error, HasSubstr("after step 12 the ranks hold different values of "
                                     "'layer2.weight'"));
  }
}

TEST(DataParallel, ParametersWithoutGradientAreNamedInTheFirstStep) {
  for (const int world : {1, 2}) {
    Gang gang("fault", world, Fault("unused", -1, 0));
    for (const RankEnd& end : gang.WaitAll()) {
      EXPECT_EQ(end.status, 1);
      EXPECT_THAT(end.error, HasSubstr("does not depend on trainable parameters 'never.weight'"));
    }
  }
}

TEST(DataParallel, UnequalModelsAreRefusedBeforeAnythingIsSent) {
  Gang shapes("unequal", 2, {{"shape", true}});
  for (const RankEnd& end : shapes.WaitAll()) {
    EXPECT_EQ(end.status, 1);
    EXPECT_THAT(end.error, HasSubstr("differ in tensor 2: rank"));
    EXPECT_THAT(end.error, HasSubstr("'layer2.weight' [64, 6"));
  }
  Gang counts("unequal", 2, {{"shape", false}});
  for (const RankEnd& end : counts.WaitAll()) {
    EXPECT_THAT(end.error, HasSubstr("between 6 and 7 tensors"));
  }
}

TEST(DataParallel, StepWithoutAnySampleUpdatesNothing) {
  const auto group = ProcessGroup::Connect({}, {.device = ProcessGroup::DeviceChoice::kCpu});
  const Perceptron model(group->device(), 1, false);
  DataParallel trainer(*group, model.parameters(), {});
  const StepResult result = trainer.Step({{0, nullptr}}, [] { FAIL() << "updated"; });
  EXPECT_EQ(result.count, 0);
  EXPECT_TRUE(std::isnan(result.loss));
  EXPECT_EQ(trainer.steps(), 0);
}

TEST(DataParallel, LossThatIsNoScalarIsRefused) {
  const auto group = ProcessGroup::Connect({}, {.device = ProcessGroup::DeviceChoice::kCpu});
  const Perceptron model(group->device(), 1, false);
  DataParallel trainer(*group, model.parameters(), {});
  EXPECT_THROW(trainer.Step({{1, [] { return at::zeros({2}); }}}, [] {}), TrainingError);
  EXPECT_THROW(trainer.Step({{1, [] { return at::Tensor(); }}}, [] {}), TrainingError);
  EXPECT_THROW(trainer.Step({{-1, nullptr}}, [] {}), TrainingError);
}

}  // namespace
}  // namespace rung::training

int main(int argc, char** argv) {
  int status = 0;
  if (rung::training::RankMain(argc, argv, status)) return status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
