#pragma once

#include <cstdint>

#include "search/configuration_tree.h"
#include "search/sampling_searcher.h"

/// Configurations drawn independently, each parameter by (seed, trial number, redraw, name) alone.
namespace rung {

class RandomSearcher final : public SamplingSearcher {
 public:
  RandomSearcher(ConfigurationTree tree, int32_t trials, int64_t seed);

 private:
  Configuration Draw(TrialNumber number, int32_t redraw) const override;

  const int64_t seed_;
};

}  // namespace rung
