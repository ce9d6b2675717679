/// The matrix of tests/training on GPUs: NCCL between two or more, one GPU a rank.
///
/// Not yet run on a GPU. Without one it exits with status 77, which ctest shows as skipped.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

#include "tests/training/gang.h"
#include "tests/training/matrix.h"

namespace rung::training {
namespace {

constexpr int kSkipped = 77;

/// GPU and CPU add up in another order and have their own tanh: 1e-4 after 20 steps of 1e-3.
constexpr double kDeviceTolerance = 1e-4;

class GpuMatrix : public ::testing::TestWithParam<MatrixCase> {
 protected:
  static void SetUpTestSuite() {
    Run(0, 1, false);
    for (const int world : {1, 2, 4}) {
      if (world <= static_cast<int>(at::getNumGPUs())) Run(world, world, true);
    }
  }
  static void TearDownTestSuite() { folders.clear(); }

  static void Run(int key, int world, bool gpu) {
    folders[key] = std::make_unique<TemporaryFolder>();
    Gang gang("matrix", world, {{"out", folders[key]->path().string()}, {"gpu", gpu}});
    for (const RankEnd& end : gang.WaitAll()) EXPECT_EQ(end.status, 0) << end.error;
  }

  static double LargestDifference(int key, int rank, int other_key) {
    const std::vector<float> one = ReadOutcome(folders.at(key)->path(), GetParam().name, rank);
    const std::vector<float> other = ReadOutcome(folders.at(other_key)->path(), GetParam().name, 0);
    EXPECT_FALSE(one.empty());
    EXPECT_EQ(one.size(), other.size());
    double largest = 0;
    for (std::size_t i = 0; i < one.size() && i < other.size(); ++i) {
      EXPECT_TRUE(std::isfinite(one[i]));
      largest = std::max(largest, static_cast<double>(std::abs(one[i] - other[i])));
    }
    return largest;
  }

  /// By world size on GPUs; 0: one process on the CPU.
  inline static std::map<int, std::unique_ptr<TemporaryFolder>> folders;
};

TEST_P(GpuMatrix, RanksEndWithTheSameValues) {
  for (const auto& [world, folder] : folders) {
    for (int rank = 1; rank < world; ++rank) EXPECT_EQ(LargestDifference(world, rank, world), 0);
  }
}

TEST_P(GpuMatrix, EqualsOneGpuWithTheSameGlobalBatch) {
  for (const auto& [world, folder] : folders) {
    if (world > 1) {
      EXPECT_LE(LargestDifference(world, 0, 1), GetParam().tolerance);
    }
  }
}

TEST_P(GpuMatrix, OneGpuEqualsTheCpu) {
  EXPECT_LE(LargestDifference(1, 0, 0), std::max(kDeviceTolerance, GetParam().tolerance));
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuMatrix, ::testing::ValuesIn(MatrixCases()),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace rung::training

int main(int argc, char** argv) {
  int status = 0;
  if (rung::training::RankMain(argc, argv, status)) return status;
  if (!at::hasCUDA() || at::getNumGPUs() == 0) {
    std::printf("no GPU: skipped\n");
    return rung::training::kSkipped;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
