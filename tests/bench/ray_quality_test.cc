#include "bench/ray_quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/quality_rules.h"
#include "tests/bench/recorded_data.h"

namespace rung {
namespace {

/// The sanitizers' builds, 30 times slower, take the experiments of 27 trials alone.
bool IsTaken(const QualitySetting& setting) {
#ifdef NDEBUG
  return setting.trials >= 1;
#else
  return setting.trials <= 27;
#endif
}

TEST(RayQuality, IsThatOfTheQuantileRuleInEverySettingAndSeed) {
  const auto ray = RayQuality::Read(kDataFolder);
  ASSERT_TRUE(ray.ok()) << ray.status();
  for (const QualitySetting& setting : QualitySettings()) {
    if (!IsTaken(setting)) continue;
    const auto seeds = RecordedData().RunAll(setting, MakerOf(kQuantile, setting));
    EXPECT_EQ(seeds.size(), 30U);
    EXPECT_THAT(ray->Differences(setting, seeds), testing::IsEmpty());
  }
}

TEST(RayQuality, OneStepMoreIsADifference) {
  const auto ray = RayQuality::Read(kDataFolder);
  ASSERT_TRUE(ray.ok()) << ray.status();
  const QualitySetting setting{
      .benchmark = "lm", .max_t = 81, .grace_period = 1, .trials = 27, .workers = 4};
  auto seeds = RecordedData().RunAll(setting, MakerOf(kQuantile, setting));
  ++seeds.at(7).steps;
  const auto differences = ray->Differences(setting, seeds);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_THAT(differences[0], testing::StartsWith("lm 81/1, N 27, W 4, seed 7: Ray "));
}

TEST(RayQuality, ASettingThatWasNotRecordedIsADifference) {
  const auto ray = RayQuality::Read(kDataFolder);
  ASSERT_TRUE(ray.ok()) << ray.status();
  EXPECT_THAT(ray->Differences({.benchmark = "lm", .max_t = 9}, {}),
              testing::ElementsAre("lm 9/0, N 0, W 0: not recorded from Ray"));
}

}  // namespace
}  // namespace rung
