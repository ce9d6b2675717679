#include "search/sobol_searcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "search/nested_scrambling.h"
#include "search/sampler.h"

namespace rung {
namespace {

bool IsDrawn(const Domain& domain) {
  return !std::holds_alternative<Constant>(domain) && !std::holds_alternative<GridValues>(domain);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SobolSearcher>> SobolSearcher::Create(const SobolSearcherSpec& spec,
                                                                     const SpaceSpec& space,
                                                                     ConfigurationTree tree,
                                                                     int64_t initial_points,
                                                                     int64_t seed) {
  Coordinates coordinates;
  for (const ParameterSpec& parameter : space.parameters) {
    if (!IsDrawn(parameter.domain)) continue;
    coordinates[parameter.name].scrambling = "rung.sobol." + parameter.name;
  }
  if (coordinates.size() > SobolSequence::kDimensionsMax) {
    return absl::InvalidArgumentError(fmt::format(
        "searcher.sobol: the space may draw at most {} parameters (the dimensions with known "
        "direction numbers), found {}",
        SobolSequence::kDimensionsMax, coordinates.size()));
  }
  size_t dimension = 0;
  for (auto& [name, coordinate] : coordinates) coordinate.dimension = dimension++;
  return std::unique_ptr<SobolSearcher>(
      new SobolSearcher(std::move(tree), std::move(coordinates), spec, initial_points, seed));
}

SobolSearcher::SobolSearcher(ConfigurationTree tree, Coordinates coordinates,
                             const SobolSearcherSpec& spec, int64_t initial_points, int64_t seed)
    : SamplingSearcher(std::move(tree), spec.trials),
      coordinates_(std::move(coordinates)),
      sequence_(coordinates_.size()),
      grid_combinations_(this->tree().GridCombinations()),
      initial_points_(initial_points),
      seed_(seed) {}

int64_t SobolSearcher::IndexOf(TrialNumber number) const {
  // How many of its combination's trials come before it, the initial points left out.
  const int64_t combination = number.value % grid_combinations_;
  const int64_t initial =
      (std::max(initial_points_, combination) - combination + grid_combinations_ - 1) /
      grid_combinations_;
  return number.value / grid_combinations_ - initial;
}

Configuration SobolSearcher::Draw(TrialNumber number, int32_t redraw) const {
  RUNG_CHECK(number.value >= initial_points_);
  const auto index = static_cast<uint32_t>(IndexOf(number) + redraw);
  const auto set = static_cast<int32_t>(number.value % grid_combinations_);
  return tree().Draw(number, [&](const ParameterSpec& parameter) {
    const Coordinate& coordinate = coordinates_.find(parameter.name)->second;
    const uint32_t digits = sequence_.At(index, coordinate.dimension);
    return ValueAt(
        parameter.domain,
        ScrambleDigits(digits, {.seed = seed_, .set = set, .name = coordinate.scrambling}));
  });
}

}  // namespace rung
