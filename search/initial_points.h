#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/searcher.h"

/// Given configurations first, then those of another searcher, which counts the former as created.
namespace rung {

class InitialPoints final : public Searcher {
 public:
  /// `points` are complete and all different.
  InitialPoints(std::vector<Configuration> points, std::unique_ptr<Searcher> rest);

  std::optional<Configuration> Suggest(TrialNumber number) override;
  std::optional<int64_t> PlannedTrials() const override { return rest_->PlannedTrials(); }
  void Restore(std::span<const Configuration> created) override;
  std::string ExhaustedReason() const override { return rest_->ExhaustedReason(); }

 private:
  const std::vector<Configuration> points_;
  const std::unique_ptr<Searcher> rest_;
};

}  // namespace rung
