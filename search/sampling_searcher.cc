#include "search/sampling_searcher.h"

#include "core/check.h"

namespace rung {
namespace {

constexpr int32_t kDrawsMax = 1000;

}  // namespace

SamplingSearcher::SamplingSearcher(ConfigurationTree tree, int32_t trials)
    : tree_(std::move(tree)),
      finite_(tree_.finite()),
      trials_(trials),
      planned_(tree_.CountLeaves(trials)) {}

std::optional<Configuration> SamplingSearcher::Suggest(TrialNumber number) {
  RUNG_CHECK(number.value == created_);
  if (created_ >= trials_ || space_exhausted_) return std::nullopt;
  std::optional<Configuration> configuration =
      finite_ ? DrawUnused(number) : Draw(number, /*redraw=*/0);
  if (configuration) {
    ++created_;
  } else {
    space_exhausted_ = true;
  }
  return configuration;
}

std::optional<Configuration> SamplingSearcher::DrawUnused(TrialNumber number) {
  Configuration drawn;
  for (int32_t redraw = 0; redraw < kDrawsMax; ++redraw) {
    drawn = Draw(number, redraw);
    if (used_.Insert(drawn)) return drawn;
  }
  return used_.InsertNextAfter(drawn, tree_);
}

void SamplingSearcher::Restore(std::span<const Configuration> created) {
  created_ = static_cast<int64_t>(created.size());
  space_exhausted_ = false;
  if (finite_) used_.Assign(created);
}

std::string SamplingSearcher::ExhaustedReason() const {
  return space_exhausted_ ? "space_exhausted" : "trials_exhausted";
}

}  // namespace rung
