#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "search/searcher.h"

/// The configurations of a list, in its order, without those that trials had before.
namespace rung {

class PointsSearcher final : public Searcher {
 public:
  /// `points` are complete and all different.
  explicit PointsSearcher(std::vector<Configuration> points);

  std::optional<Configuration> Suggest(TrialNumber number) override;
  std::optional<int64_t> PlannedTrials() const override { return planned_; }
  void Restore(std::span<const Configuration> created) override;
  std::string ExhaustedReason() const override { return "trials_exhausted"; }

 private:
  const std::vector<Configuration> points_;
  int64_t planned_;
  int64_t created_ = 0;
  size_t position_ = 0;                   ///< in points_
  std::unordered_set<std::string> used_;  ///< JSON of what existed when the state was restored
};

}  // namespace rung
