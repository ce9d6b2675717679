#include "search/random_searcher.h"

#include "core/check.h"

namespace rung {
namespace {

constexpr int32_t kRedrawsMax = 1000;

}  // namespace

RandomSearcher::RandomSearcher(ConfigurationTree tree, int32_t trials, int64_t seed)
    : tree_(std::move(tree)),
      finite_(tree_.finite()),
      trials_(trials),
      seed_(seed),
      planned_(tree_.CountLeaves(trials)) {}

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
    if (used_.Insert(drawn)) return drawn;
  }
  return used_.InsertNextAfter(drawn, tree_);
}

std::optional<int64_t> RandomSearcher::PlannedTrials() const { return planned_; }

void RandomSearcher::Restore(std::span<const Configuration> created) {
  created_ = static_cast<int64_t>(created.size());
  space_exhausted_ = false;
  if (finite_) used_.Assign(created);
}

std::string RandomSearcher::ExhaustedReason() const {
  return space_exhausted_ ? "space_exhausted" : "trials_exhausted";
}

}  // namespace rung
