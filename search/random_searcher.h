#pragma once

#include <cstdint>
#include <string>

#include "search/configuration_tree.h"
#include "search/searcher.h"
#include "search/used_configurations.h"

/// Configurations drawn independently, each parameter by (seed, trial number, redraw, name) alone.
///
/// In a finite space no configuration comes twice: a repeat is drawn again with the next redraw
/// number. Where 1,000 draws in a row repeat earlier trials, the space is nearly used up (or some
/// value very unlikely), and the next unused configuration after the last draw is taken, first
/// among those with this trial's values of `grid` forms, then among all.
namespace rung {

class RandomSearcher final : public Searcher {
 public:
  RandomSearcher(ConfigurationTree tree, int32_t trials, int64_t seed);

  std::optional<Configuration> Suggest(TrialNumber number) override;
  std::optional<int64_t> PlannedTrials() const override;
  void Restore(std::span<const Configuration> created) override;
  std::string ExhaustedReason() const override;

 private:
  std::optional<Configuration> DrawUnused(TrialNumber number);

  const ConfigurationTree tree_;
  const bool finite_;
  const int32_t trials_;
  const int64_t seed_;
  const std::optional<int64_t> planned_;
  int64_t created_ = 0;
  bool space_exhausted_ = false;
  UsedConfigurations used_;  ///< in finite spaces
};

}  // namespace rung
