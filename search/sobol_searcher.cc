#include "search/sobol_searcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "search/nested_scrambling.h"
#include "search/sampler.h"

namespace rung {
namespace {

constexpr int64_t kPointsTriedMax = 1000;

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
    : tree_(std::move(tree)),
      finite_(tree_.finite()),
      coordinates_(std::move(coordinates)),
      sequence_(coordinates_.size()),
      grid_combinations_(tree_.GridCombinations()),
      trials_(spec.trials),
      initial_points_(initial_points),
      seed_(seed),
      planned_(tree_.CountLeaves(trials_)) {}

std::optional<Configuration> SobolSearcher::Suggest(TrialNumber number) {
  RUNG_CHECK(number.value == created_);
  RUNG_CHECK(created_ >= initial_points_);
  if (created_ >= trials_ || space_exhausted_) return std::nullopt;
  std::optional<Configuration> configuration =
      finite_ ? TakeUnused(number) : At(number, IndexOf(number));
  if (configuration) {
    ++created_;
  } else {
    space_exhausted_ = true;
  }
  return configuration;
}

int64_t SobolSearcher::IndexOf(TrialNumber number) const {
  // How many of its combination's trials come before it, the initial points left out.
  const int64_t combination = number.value % grid_combinations_;
  const int64_t initial =
      (std::max(initial_points_, combination) - combination + grid_combinations_ - 1) /
      grid_combinations_;
  return number.value / grid_combinations_ - initial;
}

Configuration SobolSearcher::At(TrialNumber number, int64_t index) const {
  const auto set = static_cast<int32_t>(number.value % grid_combinations_);
  return tree_.Draw(number, [&](const ParameterSpec& parameter) {
    const Coordinate& coordinate = coordinates_.find(parameter.name)->second;
    const uint32_t digits = sequence_.At(static_cast<uint32_t>(index), coordinate.dimension);
    return ValueAt(
        parameter.domain,
        ScrambleDigits(digits, {.seed = seed_, .set = set, .name = coordinate.scrambling}));
  });
}

std::optional<Configuration> SobolSearcher::TakeUnused(TrialNumber number) {
  const int64_t end = IndexOf(number) + kPointsTriedMax;
  int64_t& next = next_index_[number.value % grid_combinations_];
  next = std::max(next, IndexOf(number));
  while (next < end) {
    Configuration configuration = At(number, next++);
    if (used_.Insert(configuration)) return configuration;
  }
  return used_.InsertNextAfter(At(number, end - 1), tree_);
}

void SobolSearcher::Restore(std::span<const Configuration> created) {
  created_ = static_cast<int64_t>(created.size());
  space_exhausted_ = false;
  next_index_.clear();
  if (finite_) used_.Assign(created);
}

std::string SobolSearcher::ExhaustedReason() const {
  return space_exhausted_ ? "space_exhausted" : "trials_exhausted";
}

}  // namespace rung
