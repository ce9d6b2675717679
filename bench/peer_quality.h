#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/quality_experiment.h"

/// What another tuner did in the same experiments, by the rules of virtual_tuner.h.
///
/// data/ray_quality.json was recorded from Ray Tune 2.60's AsyncHyperBandScheduler, seed by seed,
/// and has the cells of its published column as text; data/optuna_quality.json has the published
/// cells of Optuna 5.0's SuccessiveHalvingPruner.
namespace rung {

class PeerQuality {
 public:
  /// Errors: those of reading and parsing.
  static absl::StatusOr<PeerQuality> Read(const std::string& path);

  const std::string& peer() const { return peer_; }  ///< with its version
  size_t settings() const { return settings_.size(); }
  bool IsRecorded(const QualitySetting& setting) const;

  /// Where rung's results, by seed, differ from the peer's, one sentence a difference; empty when
  /// all that was recorded is equal. `setting` is recorded.
  std::vector<std::string> Differences(const QualitySetting& setting,
                                       const std::vector<SeedQuality>& ours) const;

 private:
  struct Recorded {
    std::optional<std::string> published;  ///< the cell of the table
    std::vector<SeedQuality> seeds;        ///< empty: only the cell is known
  };
  std::string peer_;
  std::map<std::string, Recorded> settings_;  ///< by title
};

/// "lm 81/1, N 256, W 4".
std::string TitleOf(const QualitySetting& setting);

}  // namespace rung
