#include "examples/bert_finetune/feature_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/examples/temporary_file.h"

namespace bert {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr FeatureCache::Shape kShape = {.key = 0xABC, .tokens = 3, .hidden = 2};

absl::Status Count(std::span<uint16_t> values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(i);
  return absl::OkStatus();
}

absl::Status MustNotRun(std::span<uint16_t>) { return absl::InternalError("built again"); }

bool NotCancelled() { return false; }

TEST(FeatureCache, BuildsOnceAndMapsAfterwards) {
  const TemporaryFile place("");
  const std::string folder = place.path() + ".cache";
  ASSERT_TRUE(FeatureCache::OpenOrBuild(folder, kShape, Count, NotCancelled).ok());
  const auto cache = FeatureCache::OpenOrBuild(folder, kShape, MustNotRun, NotCancelled);
  ASSERT_TRUE(cache.ok()) << cache.status();
  EXPECT_THAT(cache->Values(1, 2), ElementsAre(2, 3, 4, 5));
}

TEST(FeatureCache, AnotherKeyIsBuiltBesideTheFirst) {
  const TemporaryFile place("");
  const std::string folder = place.path() + ".cache";
  ASSERT_TRUE(FeatureCache::OpenOrBuild(folder, kShape, Count, NotCancelled).ok());
  FeatureCache::Shape other = kShape;
  other.key = 0xDEF;
  EXPECT_THAT(FeatureCache::OpenOrBuild(folder, other, MustNotRun, NotCancelled).status().message(),
              HasSubstr("built again"));
  EXPECT_TRUE(FeatureCache::OpenOrBuild(folder, kShape, MustNotRun, NotCancelled).ok());
}

TEST(FeatureCache, FailedBuildLeavesNothingThatLooksBuilt) {
  const TemporaryFile place("");
  const std::string folder = place.path() + ".cache";
  EXPECT_FALSE(FeatureCache::OpenOrBuild(folder, kShape, MustNotRun, NotCancelled).ok());
  EXPECT_TRUE(FeatureCache::OpenOrBuild(folder, kShape, Count, NotCancelled).ok());
}

TEST(FeatureCache, TruncatedFileIsBuiltAnew) {
  const TemporaryFile place("");
  const std::string folder = place.path() + ".cache";
  const auto path = FeatureCache::OpenOrBuild(folder, kShape, Count, NotCancelled)->path();
  std::filesystem::resize_file(path, 65);
  const auto cache = FeatureCache::OpenOrBuild(folder, kShape, Count, NotCancelled);
  ASSERT_TRUE(cache.ok()) << cache.status();
  EXPECT_THAT(cache->Values(2, 1), ElementsAre(4, 5));
}

TEST(FeatureCache, TwoThatStartAtOnceBuildOnce) {
  const TemporaryFile place("");
  const std::string folder = place.path() + ".cache";
  std::atomic<int> builds = 0;
  std::atomic<int> good = 0;
  const auto start = [&] {
    const auto cache = FeatureCache::OpenOrBuild(
        folder, kShape,
        [&](std::span<uint16_t> values) {
          ++builds;
          return Count(values);
        },
        NotCancelled);
    if (cache.ok() && cache->Values(0, 3).back() == 5) ++good;
  };
  std::thread first(start);
  std::thread second(start);
  first.join();
  second.join();
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(good, 2);
}

TEST(FeatureCache, WaitForTheLockEndsWhenCancelled) {
  const TemporaryFile place("");
  const std::string folder = place.path() + ".cache";
  const auto while_locked = [&](std::span<uint16_t> values) {
    const auto other = FeatureCache::OpenOrBuild(folder, kShape, Count, [] { return true; });
    EXPECT_EQ(other.status().code(), absl::StatusCode::kCancelled);
    return Count(values);
  };
  EXPECT_TRUE(FeatureCache::OpenOrBuild(folder, kShape, while_locked, NotCancelled).ok());
}

TEST(FeatureCache, FolderThatCannotBeMadeIsNamed) {
  const TemporaryFile file("a file, no folder");
  const auto cache = FeatureCache::OpenOrBuild(file.path() + "/cache", kShape, Count, NotCancelled);
  EXPECT_EQ(cache.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(cache.status().message(), HasSubstr(file.path()));
}

}  // namespace
}  // namespace bert
