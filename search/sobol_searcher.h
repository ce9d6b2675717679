#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "search/configuration_tree.h"
#include "search/sampling_searcher.h"
#include "search/sobol_sequence.h"

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
/// A trial that draws anew, as happens in finite spaces alone, takes the point behind.
namespace rung {

class SobolSearcher final : public SamplingSearcher {
 public:
  /// `initial_points` trials have configurations from elsewhere. Errors: INVALID_ARGUMENT with the
  /// path `searcher.sobol` for more dimensions than SobolSequence has.
  static absl::StatusOr<std::unique_ptr<SobolSearcher>> Create(const SobolSearcherSpec& spec,
                                                               const SpaceSpec& space,
                                                               ConfigurationTree tree,
                                                               int64_t initial_points,
                                                               int64_t seed);

 private:
  struct Coordinate {
    size_t dimension;
    std::string scrambling;  ///< name
  };
  using Coordinates = std::map<std::string, Coordinate, std::less<>>;  ///< by parameter

  SobolSearcher(ConfigurationTree tree, Coordinates coordinates, const SobolSearcherSpec& spec,
                int64_t initial_points, int64_t seed);

  Configuration Draw(TrialNumber number, int32_t redraw) const override;
  /// Which point of its grid combination's sequence the trial takes first.
  int64_t IndexOf(TrialNumber number) const;

  const Coordinates coordinates_;
  const SobolSequence sequence_;
  const int64_t grid_combinations_;
  const int64_t initial_points_;
  const int64_t seed_;
};

}  // namespace rung
