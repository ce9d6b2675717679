#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/quality_experiment.h"

/// What Ray Tune 2.60's AsyncHyperBandScheduler did in the same experiments, seed by seed.
///
/// data/ray_quality.json was recorded from Ray itself by the rules of virtual_tuner.h; the cells of
/// its column of the published table are in it as text.
namespace rung {

class RayQuality {
 public:
  /// Errors: those of reading and parsing.
  static absl::StatusOr<RayQuality> Read(const std::string& folder);

  /// Where rung's results, by seed, differ from Ray's, one sentence a difference; empty when all
  /// are equal. A setting that was not recorded is a difference.
  std::vector<std::string> Differences(const QualitySetting& setting,
                                       const std::vector<SeedQuality>& ours) const;

 private:
  struct Recorded {
    std::optional<std::string> published;  ///< the cell of the table
    std::vector<SeedQuality> seeds;
  };
  std::map<std::string, Recorded> settings_;  ///< by title
};

/// "lm 81/1, N 256, W 4".
std::string TitleOf(const QualitySetting& setting);

}  // namespace rung
