#include "bench/peer_quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

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

PeerQuality ReadPeer(const std::string& file) {
  auto peer = PeerQuality::Read(kDataFolder + "/" + file);
  EXPECT_TRUE(peer.ok()) << peer.status();
  return *std::move(peer);
}

void ExpectNoDifference(const PeerQuality& peer, const std::string& rule) {
  for (const QualitySetting& setting : QualitySettings()) {
    if (!IsTaken(setting) || !peer.IsRecorded(setting)) continue;
    const auto seeds = RecordedData().RunAll(setting, MakerOf(rule, setting));
    EXPECT_EQ(seeds.size(), 30U);
    EXPECT_THAT(peer.Differences(setting, seeds), testing::IsEmpty());
  }
}

TEST(PeerQuality, OfRayIsThatOfTheQuantileRuleInEverySettingAndSeed) {
  const PeerQuality ray = ReadPeer("ray_quality.json");
  EXPECT_EQ(ray.settings(), QualitySettings().size());
  ExpectNoDifference(ray, kQuantile);
}

TEST(PeerQuality, OfOptunaIsThatOfTheTopRuleInThePublishedTable) {
  const PeerQuality optuna = ReadPeer("optuna_quality.json");
  EXPECT_EQ(optuna.settings(), 12U);
  ExpectNoDifference(optuna, kTop);
}

TEST(PeerQuality, OneStepMoreIsADifference) {
  const PeerQuality ray = ReadPeer("ray_quality.json");
  const QualitySetting setting{
      .benchmark = "lm", .max_t = 81, .grace_period = 1, .trials = 27, .workers = 4};
  auto seeds = RecordedData().RunAll(setting, MakerOf(kQuantile, setting));
  ++seeds.at(7).steps;
  const auto differences = ray.Differences(setting, seeds);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_THAT(differences[0], testing::StartsWith("lm 81/1, N 27, W 4, seed 7: Ray Tune 2.60.0 "));
}

TEST(PeerQuality, AnotherCellOfTheTableIsADifference) {
  const PeerQuality optuna = ReadPeer("optuna_quality.json");
  const QualitySetting setting{
      .benchmark = "lm", .max_t = 81, .grace_period = 1, .trials = 27, .workers = 4};
  const auto seeds = RecordedData().RunAll(setting, MakerOf(kQuantile, setting));
  EXPECT_THAT(optuna.Differences(setting, seeds),
              testing::ElementsAre("lm 81/1, N 27, W 4: Optuna 5.0.0's published cell 0.0177 / 256 "
                                   "/ 99; rung 0.0119 / 406 / 177"));
}

}  // namespace
}  // namespace rung
