#include "search/searcher.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

#include "core/check.h"
#include "search/configuration_tree.h"
#include "search/grid_searcher.h"
#include "search/initial_points.h"
#include "search/points_searcher.h"
#include "search/random_searcher.h"
#include "search/sobol_searcher.h"

namespace rung {
namespace {

absl::StatusOr<std::vector<Configuration>> CompletePoints(const std::vector<Configuration>& points,
                                                          const ConfigurationTree& tree,
                                                          const std::string& path) {
  std::vector<Configuration> complete;
  std::unordered_map<std::string, size_t> seen;
  for (size_t i = 0; i < points.size(); ++i) {
    absl::StatusOr<Configuration> point = tree.Complete(points[i], fmt::format("{}[{}]", path, i));
    if (!point.ok()) return point.status();
    const auto [earlier, is_new] = seen.try_emplace(point->ToJson(), i);
    if (!is_new) {
      return absl::InvalidArgumentError(
          fmt::format("{}[{}]: repeats {}[{}]", path, i, path, earlier->second));
    }
    complete.push_back(*std::move(point));
  }
  return complete;
}

struct Make {
  const SearcherSpec& spec;
  const SpaceSpec& space;
  const ConfigurationTree& tree;
  int64_t seed;

  absl::StatusOr<std::unique_ptr<Searcher>> operator()(const RandomSearcherSpec& random) const {
    RUNG_RETURN_IF_ERROR(CheckTrials("searcher.random.trials", random.trials));
    return std::make_unique<RandomSearcher>(tree, random.trials, seed);
  }
  absl::StatusOr<std::unique_ptr<Searcher>> operator()(const SobolSearcherSpec& sobol) const {
    RUNG_RETURN_IF_ERROR(CheckTrials("searcher.sobol.trials", sobol.trials));
    return SobolSearcher::Create(sobol, space, tree,
                                 static_cast<int64_t>(spec.initial_points.size()), seed);
  }
  absl::StatusOr<std::unique_ptr<Searcher>> operator()(const GridSearcherSpec& grid) const {
    return GridSearcher::Create(grid, space, seed);
  }
  absl::StatusOr<std::unique_ptr<Searcher>> operator()(const PointsSearcherSpec& points) const {
    if (points.points.empty()) {
      return absl::InvalidArgumentError("searcher.points: must hold at least one point");
    }
    absl::StatusOr<std::vector<Configuration>> complete =
        CompletePoints(points.points, tree, "searcher.points");
    if (!complete.ok()) return complete.status();
    return std::make_unique<PointsSearcher>(*std::move(complete));
  }

 private:
  absl::Status CheckTrials(std::string_view path, int32_t trials) const {
    if (trials < 1) {
      return absl::InvalidArgumentError(
          fmt::format("{}: must be at least 1, found {}", path, trials));
    }
    if (static_cast<size_t>(trials) < spec.initial_points.size()) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: must be at least the number of initial_points ({}), which are counted among the "
          "trials, found {}",
          path, spec.initial_points.size(), trials));
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Searcher>> MakeSearcher(const SearcherSpec& spec,
                                                       const SpaceSpec& space, int64_t seed) {
  const absl::StatusOr<ConfigurationTree> tree = ConfigurationTree::Create(space, {});
  if (!tree.ok()) return tree.status();
  absl::StatusOr<std::unique_ptr<Searcher>> searcher =
      std::visit(Make{spec, space, *tree, seed}, spec.kind);
  if (!searcher.ok() || spec.initial_points.empty()) return searcher;
  absl::StatusOr<std::vector<Configuration>> initial =
      CompletePoints(spec.initial_points, *tree, spec.initial_points_path);
  if (!initial.ok()) return initial.status();
  return std::make_unique<InitialPoints>(*std::move(initial), *std::move(searcher));
}

}  // namespace rung
