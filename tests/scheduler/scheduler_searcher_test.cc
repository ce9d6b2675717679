#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/scheduler/sim_cluster.h"

/// Which configurations an experiment tries depends on nothing that happens to it (INTERFACES.md
/// §2; cases.md 13 of the exact limit).
namespace rung {
namespace {

using Variant = AshaSpec::Variant;

/// The configurations by trial number, on so many workers. Every 40th action an attempt is lost,
/// every 60th one fails; in all runs some trials are stopped early.
std::vector<std::string> Configurations(const SearcherSpec& searcher, const SpaceSpec& space,
                                        int workers, Variant variant = Variant::kStopping) {
  SimCluster cluster(workers, /*last_step=*/9);
  ExperimentSpec spec = AshaSpecOf(1, variant);
  spec.searcher = searcher;
  spec.space = space;
  spec.trial->max_losses = 1000;
  spec.trial->resumable = true;
  const ExperimentId id = cluster.world.Create(spec);
  cluster.Run(id, static_cast<uint64_t>(workers), [&](int i) {
    SimWorker& worker = cluster.workers()[static_cast<size_t>(i) % cluster.workers().size()];
    if (worker.attempts().empty()) return;
    if (i % 40 == 39) worker.End(worker.attempts().front(), ExitCause::kLost);
    if (i % 60 == 59) worker.End(worker.attempts().front(), ExitCause::kFailed);
    if (i % 200 == 199) cluster.Restart();
  });
  std::vector<std::string> all;
  for (const auto& [key, row] : cluster.world.storage.tables().trials) all.push_back(row.params);
  return all;
}

SpaceSpec Mixed() {
  return {{{.name = "lr", .domain = LogUniform{1e-6, 1e-4}, .when = {}},
           {.name = "batch", .domain = Choice{{"16", "32", "64"}}, .when = {}},
           {.name = "fold", .domain = GridValues{{"0", "1"}}, .when = {}}}};
}

SpaceSpec Finite() {
  return {{{.name = "layers", .domain = RandInt{0, 7}, .when = {}},
           {.name = "batch", .domain = Choice{{"16", "32", "64"}}, .when = {}}}};
}

TEST(SchedulerSearcher, OneFourAndThirtyTwoWorkersTryTheSameConfigurations) {
  const Configuration initial = {{{"lr", "1e-05"}, {"batch", "32"}, {"fold", "0"}}};
  const std::vector<SearcherSpec> searchers = {{RandomSearcherSpec{100}, {}},
                                               {SobolSearcherSpec{100}, {}},
                                               {SobolSearcherSpec{100}, {initial}}};
  for (const SearcherSpec& searcher : searchers) {
    const auto one = Configurations(searcher, Mixed(), 1);
    EXPECT_EQ(one.size(), 100U);  // exactly, whatever was lost or stopped
    EXPECT_EQ(Configurations(searcher, Mixed(), 4), one);
    EXPECT_EQ(Configurations(searcher, Mixed(), 32), one);
    EXPECT_EQ(Configurations(searcher, Mixed(), 4, Variant::kPromotion), one);
  }
}

TEST(SchedulerSearcher, AFiniteSpaceIsUsedUpWithoutRepeatsOnAnyNumberOfWorkers) {
  for (const SearcherSpec& searcher :
       {SearcherSpec{RandomSearcherSpec{100}, {}}, SearcherSpec{SobolSearcherSpec{100}, {}},
        SearcherSpec{GridSearcherSpec{}, {}}}) {
    const auto one = Configurations(searcher, Finite(), 1);
    EXPECT_EQ(std::set<std::string>(one.begin(), one.end()).size(), 21U);  // 7 · 3
    EXPECT_EQ(one.size(), 21U);
    EXPECT_EQ(Configurations(searcher, Finite(), 4), one);
    EXPECT_EQ(Configurations(searcher, Finite(), 32), one);
  }
}

}  // namespace
}  // namespace rung
