#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "search/configuration_tree.h"
#include "search/searcher.h"
#include "search/used_configurations.h"

/// A number of trials, each of which draws its configuration by its number.
///
/// In a finite space no configuration comes twice: a repeat is drawn again with the next redraw
/// number. Where 1,000 draws in a row repeat earlier trials, the space is nearly used up (or some
/// value very unlikely), and the next unused configuration after the last draw is taken, first
/// among those with this trial's values of `grid` forms, then among all.
namespace rung {

class SamplingSearcher : public Searcher {
 public:
  std::optional<Configuration> Suggest(TrialNumber number) final;
  std::optional<int64_t> PlannedTrials() const final { return planned_; }
  void Restore(std::span<const Configuration> created) final;
  std::string ExhaustedReason() const final;

 protected:
  SamplingSearcher(ConfigurationTree tree, int32_t trials);

  const ConfigurationTree& tree() const { return tree_; }

 private:
  /// The configuration of a trial that draws anew for the `redraw`-th time (0: the first draw). A
  /// function of its arguments alone.
  virtual Configuration Draw(TrialNumber number, int32_t redraw) const = 0;

  std::optional<Configuration> DrawUnused(TrialNumber number);

  const ConfigurationTree tree_;
  const bool finite_;
  const int32_t trials_;
  const std::optional<int64_t> planned_;
  int64_t created_ = 0;
  bool space_exhausted_ = false;
  UsedConfigurations used_;  ///< in finite spaces
};

}  // namespace rung
