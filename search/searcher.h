#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "core/parameters.h"
#include "search/space.h"

/// What to try next.
namespace rung {

struct RandomSearcherSpec {
  int32_t trials = 0;  ///< at least 1
};
struct GridSearcherSpec {
  std::map<std::string, int32_t> points;  ///< number of points of each range, at least 1
  bool listed = false;                    ///< order: "listed" instead of shuffled by the seed
};
struct PointsSearcherSpec {
  std::vector<Configuration> points;  ///< as written: constants may be left out, 1 may be 1.0
};
struct SobolSearcherSpec {
  int32_t trials = 0;  ///< at least 1
};
struct SearcherSpec {
  std::variant<RandomSearcherSpec, GridSearcherSpec, PointsSearcherSpec, SobolSearcherSpec> kind;
  std::vector<Configuration> initial_points;  ///< come first, with any kind; as written
  std::string initial_points_path = "searcher.initial_points";  ///< of messages
};

/// An implementation guarantees: Suggest(n) is called with n = 0, 1, 2, … in order; its answers
/// depend on (space, spec, seed) and the calls so far alone, never on time, threads or the machine;
/// after Restore(created) a fresh object goes on exactly as the one that suggested `created` would
/// have.
class Searcher {
 public:
  virtual ~Searcher() = default;

  /// The configuration of trial `number`; nullopt when there is none left (then and ever after).
  virtual std::optional<Configuration> Suggest(TrialNumber number) = 0;

  /// How many trials there will be, where that is known beforehand.
  virtual std::optional<int64_t> PlannedTrials() const = 0;

  /// Rebuilds the state after the trials 0 … created.size() − 1 with these configurations.
  virtual void Restore(std::span<const Configuration> created) = 0;

  /// Why no configuration is left: "trials_exhausted" or "space_exhausted".
  virtual std::string ExhaustedReason() const = 0;
};

/// Errors: INVALID_ARGUMENT with a path below `space` for conditions that cannot be
/// (ConfigurationTree::Create), and below `searcher` for what only the combination of space and
/// searcher shows (a grid point count for no parameter, a point that leaves the space, …).
absl::StatusOr<std::unique_ptr<Searcher>> MakeSearcher(const SearcherSpec& spec,
                                                       const SpaceSpec& space, int64_t seed);

}  // namespace rung
