#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "search/configuration_tree.h"
#include "search/searcher.h"
#include "search/sobol_sequence.h"
#include "search/used_configurations.h"

/// Configurations that cover the space evenly: the points of a scrambled Sobol' sequence.
///
/// A configuration is a function of (seed, trial number, space, number of initial points) alone.
/// Every parameter that is drawn has a dimension of its own, in the order of the parameters' names
/// (by bytes); constants and grids need none, and one whose condition does not hold leaves its
/// coordinate unused. A coordinate is scrambled under the name "rung.sobol." and the parameter's
/// own, and becomes a value by the inverse of the form's distribution function. Trial i takes point
/// i − (initial points).
///
/// With `grid` forms of C combinations trial i takes combination i mod C, and each combination has
/// a scrambling (set i mod C) and a sequence of its own, whose points its trials take in turn: one
/// sequence for all would give every second grid value one half of the first dimension.
///
/// In a finite space no configuration comes twice: where the trial's point repeats an earlier
/// trial, the next of the 999 points behind it that does not is taken, else the next unused
/// configuration after the last of them (used_configurations.h).
namespace rung {

class SobolSearcher final : public Searcher {
 public:
  /// `initial_points` trials have configurations from elsewhere. Errors: INVALID_ARGUMENT with the
  /// path `searcher.sobol` for more dimensions than SobolSequence has.
  static absl::StatusOr<std::unique_ptr<SobolSearcher>> Create(const SobolSearcherSpec& spec,
                                                               const SpaceSpec& space,
                                                               ConfigurationTree tree,
                                                               int64_t initial_points,
                                                               int64_t seed);

  std::optional<Configuration> Suggest(TrialNumber number) override;
  std::optional<int64_t> PlannedTrials() const override { return planned_; }
  void Restore(std::span<const Configuration> created) override;
  std::string ExhaustedReason() const override;

 private:
  struct Coordinate {
    size_t dimension;
    std::string scrambling;  ///< name
  };
  using Coordinates = std::map<std::string, Coordinate, std::less<>>;  ///< by parameter

  SobolSearcher(ConfigurationTree tree, Coordinates coordinates, const SobolSearcherSpec& spec,
                int64_t initial_points, int64_t seed);

  /// The configuration of point `index` with the grid values of the trial.
  Configuration At(TrialNumber number, int64_t index) const;
  /// Which point of its grid combination's sequence the trial takes.
  int64_t IndexOf(TrialNumber number) const;
  std::optional<Configuration> TakeUnused(TrialNumber number);

  const ConfigurationTree tree_;
  const bool finite_;
  const Coordinates coordinates_;
  const SobolSequence sequence_;
  const int64_t grid_combinations_;
  const int32_t trials_;
  const int64_t initial_points_;
  const int64_t seed_;
  const std::optional<int64_t> planned_;
  int64_t created_ = 0;
  bool space_exhausted_ = false;
  UsedConfigurations used_;  ///< in finite spaces
  /// By grid combination: all points that were looked at lie before this one, and all are used.
  std::unordered_map<int64_t, int64_t> next_index_;
};

}  // namespace rung
