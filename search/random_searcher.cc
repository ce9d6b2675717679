#include "search/random_searcher.h"

namespace rung {

RandomSearcher::RandomSearcher(ConfigurationTree tree, int32_t trials, int64_t seed)
    : SamplingSearcher(std::move(tree), trials), seed_(seed) {}

Configuration RandomSearcher::Draw(TrialNumber number, int32_t redraw) const {
  return tree().Draw(seed_, number, redraw);
}

}  // namespace rung
