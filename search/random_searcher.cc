#include "search/random_searcher.h"

#include <algorithm>

#include "core/check.h"

namespace rung {
namespace {

constexpr int32_t kRedrawsMax = 1000;

std::optional<int64_t> Planned(const ConfigurationTree& tree, int32_t trials) {
  if (!tree.finite()) return trials;
  const std::optional<uint64_t> leaves = tree.CountLeaves(static_cast<uint64_t>(trials));
  if (!leaves) return std::nullopt;
  return static_cast<int64_t>(*leaves);
}

}  // namespace

RandomSearcher::RandomSearcher(ConfigurationTree tree, int32_t trials, int64_t seed)
    : tree_(std::move(tree)),
      finite_(tree_.finite()),
      trials_(trials),
      seed_(seed),
      planned_(Planned(tree_, trials)) {}

std::optional<Configuration> RandomSearcher::Suggest(TrialNumber number) {
  RUNG_CHECK(number.value == created_);
  if (created_ >= trials_ || space_exhausted_) return std::nullopt;
  std::optional<Configuration> configuration =
      finite_ ? DrawUnused(number) : tree_.Draw(seed_, number, /*redraw=*/0);
  if (configuration) {
    ++created_;
  } else {
    space_exhausted_ = true;
  }
  return configuration;
}

std::optional<Configuration> RandomSearcher::DrawUnused(TrialNumber number) {
  Configuration drawn;
  for (int32_t redraw = 0; redraw < kRedrawsMax; ++redraw) {
    drawn = tree_.Draw(seed_, number, redraw);
    if (used_.insert(drawn.ToJson()).second) return drawn;
  }
  return NextUnusedAfter(drawn);
}

std::optional<Configuration> RandomSearcher::NextUnusedAfter(const Configuration& drawn) {
  const std::optional<ConfigurationTree::Leaf> start = tree_.LeafOf(drawn);
  RUNG_CHECK(start.has_value());
  for (const bool grids_fixed : {true, false}) {
    ConfigurationTree::Leaf leaf = *start;
    // Every leaf met is one of the trials created, so the walk is no longer than their number.
    do {
      tree_.Next(leaf, grids_fixed);
      Configuration configuration = tree_.At(leaf);
      if (used_.insert(configuration.ToJson()).second) return configuration;
    } while (leaf != *start);
  }
  return std::nullopt;
}

std::optional<int64_t> RandomSearcher::PlannedTrials() const { return planned_; }

void RandomSearcher::Restore(std::span<const Configuration> created) {
  created_ = static_cast<int64_t>(created.size());
  space_exhausted_ = false;
  used_.clear();
  if (!finite_) return;
  for (const Configuration& configuration : created) used_.insert(configuration.ToJson());
}

std::string RandomSearcher::ExhaustedReason() const {
  return space_exhausted_ ? "space_exhausted" : "trials_exhausted";
}

}  // namespace rung
