#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "search/configuration_tree.h"
#include "search/searcher.h"

/// Every combination of the parameters' values, shuffled by the seed or as listed.
///
/// Choices, grids and constants give all their values. A range gives as many evenly spaced points
/// as `points` says (evenly in the logarithm for log forms): floats with both ends, one point being
/// the middle; integers from low to high − 1, rounded half up, repeats dropped; quantised forms the
/// nearest of their steps. Without an entry in `points` a range of finitely many values gives them
/// all, and a continuous one is an error. Conditions are kept, and no combination comes twice.
namespace rung {

class GridSearcher final : public Searcher {
 public:
  /// Errors: INVALID_ARGUMENT with a path below `searcher.grid` or `space`; also for more than
  /// 1,000,000 combinations, or fewer in a space of many parameters (ConfigurationTree::LeavesMax).
  static absl::StatusOr<std::unique_ptr<GridSearcher>> Create(const GridSearcherSpec& spec,
                                                              const SpaceSpec& space, int64_t seed);

  std::optional<Configuration> Suggest(TrialNumber number) override;
  std::optional<int64_t> PlannedTrials() const override { return planned_; }
  void Restore(std::span<const Configuration> created) override;
  std::string ExhaustedReason() const override { return "space_exhausted"; }

 private:
  GridSearcher(ConfigurationTree tree, std::vector<ConfigurationTree::Leaf> leaves);

  const ConfigurationTree tree_;
  const std::vector<ConfigurationTree::Leaf> leaves_;  ///< in the order of the trials
  int64_t planned_;
  int64_t created_ = 0;
  size_t position_ = 0;                   ///< in leaves_
  std::unordered_set<std::string> used_;  ///< JSON of what existed when the state was restored
};

}  // namespace rung
