#include "search/grid_searcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/check.h"
#include "core/counter_random.h"
#include "core/json_message.h"
#include "search/sampler.h"

namespace rung {
namespace {

constexpr int64_t kCombinationsMax = 1'000'000;
constexpr int32_t kPointsMax = 1'000'000;

__extension__ using Uint128 = unsigned __int128;

/// Where point j of n stands between the ends, 0 to 1; a single point in the middle.
double Fraction(int32_t j, int32_t n) {
  return n == 1 ? 0.5 : static_cast<double>(j) / static_cast<double>(n - 1);
}

/// j of n evenly spaced integers in 0 … span, rounded half up, without floats.
uint64_t EvenInteger(uint64_t span, int32_t j, int32_t n) {
  const auto numerator = n == 1 ? Uint128{1} : static_cast<Uint128>(j);
  const auto denominator = n == 1 ? Uint128{2} : static_cast<Uint128>(n - 1);
  return static_cast<uint64_t>((2 * numerator * span + denominator) / (2 * denominator));
}

/// The texts of `points` evenly spaced points of a range; repeats are dropped by the caller.
struct EvenPoints {
  int32_t points;
  const ValueList* values;  ///< the range's values; nullptr for a continuous one

  std::vector<std::string> operator()(const Uniform& d) const {
    return Floats(d.low, d.high, [&](double at) { return Between(d.low, d.high, at); });
  }
  std::vector<std::string> operator()(const LogUniform& d) const {
    return Floats(d.low, d.high, [&](double at) { return LogBetween(d.low, d.high, at); });
  }
  std::vector<std::string> operator()(const QUniform& /*d*/) const { return Integers(); }
  std::vector<std::string> operator()(const RandInt& /*d*/) const { return Integers(); }
  std::vector<std::string> operator()(const QRandInt& /*d*/) const { return Integers(); }
  std::vector<std::string> operator()(const QLogUniform& d) const {
    const absl::StatusOr<DecimalSteps> steps =
        DecimalSteps::Create({.low = d.low, .high = d.high, .q = d.q});
    RUNG_CHECK(steps.ok());  // the tree was built
    return Indices([&](double at) {
      return static_cast<uint64_t>(steps->Nearest(LogBetween(d.low, d.high, at)));
    });
  }
  std::vector<std::string> operator()(const LogRandInt& d) const {
    const double last = static_cast<double>(d.high - 1);
    return Indices([&](double at) {
      const double value = std::floor(LogBetween(static_cast<double>(d.low), last, at) + 0.5);
      // Near 2^63 a double is coarser than the integers, so the ends are kept by hand.
      if (value >= last) return values->count() - 1;
      return static_cast<uint64_t>(std::max(d.low, static_cast<int64_t>(value))) -
             static_cast<uint64_t>(d.low);
    });
  }
  // The caller refuses these.
  std::vector<std::string> operator()(const Normal& /*d*/) const { return {}; }
  std::vector<std::string> operator()(const LogNormal& /*d*/) const { return {}; }
  std::vector<std::string> operator()(const Choice& d) const { return d.values; }
  std::vector<std::string> operator()(const GridValues& d) const { return d.values; }
  std::vector<std::string> operator()(const Constant& d) const { return {d.value}; }

 private:
  template <typename At>
  std::vector<std::string> Floats(double low, double high, At at) const {
    std::vector<std::string> texts;
    for (int32_t j = 0; j < points; ++j) {
      const double value = points == 1       ? at(0.5)
                           : j == 0          ? low
                           : j + 1 == points ? high
                                             : at(Fraction(j, points));
      texts.push_back(JsonFloat(value));
    }
    return texts;
  }
  std::vector<std::string> Integers() const {
    std::vector<std::string> texts;
    for (int32_t j = 0; j < points; ++j) {
      texts.push_back(values->At(EvenInteger(values->count() - 1, j, points)));
    }
    return texts;
  }
  template <typename IndexAt>
  std::vector<std::string> Indices(IndexAt index_at) const {
    std::vector<std::string> texts;
    for (int32_t j = 0; j < points; ++j) texts.push_back(values->At(index_at(Fraction(j, points))));
    return texts;
  }
};

absl::StatusOr<ValueList> ListOf(const ParameterSpec& parameter, const int32_t* points) {
  const Domain& domain = parameter.domain;
  const std::optional<ValueList> all = ValueList::Of(domain);
  const std::string path = PathOfKey("searcher.grid.points", parameter.name);
  if (std::holds_alternative<Normal>(domain) || std::holds_alternative<LogNormal>(domain)) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: a normal range has no ends to space points between; give its values as \"grid\" or "
        "\"choice\"",
        path));
  }
  if (points == nullptr) {
    if (all) return *all;
    return absl::InvalidArgumentError(
        fmt::format("{}: is missing; a continuous range needs its number of points", path));
  }
  if (*points < 1 || *points > kPointsMax) {
    return absl::InvalidArgumentError(
        fmt::format("{}: must lie in 1 … {}, found {}", path, kPointsMax, *points));
  }
  const bool listed = std::holds_alternative<Choice>(domain) ||
                      std::holds_alternative<GridValues>(domain) ||
                      std::holds_alternative<Constant>(domain);
  if (listed && static_cast<uint64_t>(*points) != all->count()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: is no range; all of its {} values are taken, found {}", path, all->count(), *points));
  }
  return ValueList::FromTexts(std::visit(EvenPoints{*points, all ? &*all : nullptr}, domain));
}

std::vector<ConfigurationTree::Leaf> Shuffled(std::vector<ConfigurationTree::Leaf> leaves,
                                              int64_t seed) {
  // Fisher and Yates, from the last place down.
  CounterRandom random({.seed = seed, .trial = {0}, .redraw = 0, .name = "rung.grid"});
  for (size_t i = leaves.size(); i > 1; --i) {
    std::swap(leaves[i - 1], leaves[static_cast<size_t>(random.NextBelow(i))]);
  }
  return leaves;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GridSearcher>> GridSearcher::Create(const GridSearcherSpec& spec,
                                                                   const SpaceSpec& space,
                                                                   int64_t seed) {
  // Made once as it is, for the checks of the space.
  const absl::StatusOr<ConfigurationTree> whole = ConfigurationTree::Create(space, {});
  if (!whole.ok()) return whole.status();
  for (const auto& [name, count] : spec.points) {
    RUNG_RETURN_IF_ERROR(whole->RequireParameter("searcher.grid.points", name));
  }
  std::map<std::string, ValueList> lists;
  for (const ParameterSpec& parameter : space.parameters) {
    const auto points = spec.points.find(parameter.name);
    absl::StatusOr<ValueList> list =
        ListOf(parameter, points == spec.points.end() ? nullptr : &points->second);
    if (!list.ok()) return list.status();
    lists.emplace(parameter.name, *std::move(list));
  }
  absl::StatusOr<ConfigurationTree> tree = ConfigurationTree::Create(space, lists);
  if (!tree.ok()) return tree.status();
  const int64_t most = std::min(kCombinationsMax, tree->LeavesMax());
  const std::optional<int64_t> count = tree->CountLeaves(kCombinationsMax + 1);
  if (!count || *count > most) {
    return absl::InvalidArgumentError(fmt::format(
        "searcher.grid: has more than {} combinations, the most for a space of {} parameters", most,
        space.parameters.size()));
  }
  std::vector<ConfigurationTree::Leaf> leaves;
  ConfigurationTree::Leaf leaf = tree->First();
  do {
    leaves.push_back(leaf);
  } while (tree->Next(leaf));
  if (!spec.listed) leaves = Shuffled(std::move(leaves), seed);
  return std::unique_ptr<GridSearcher>(new GridSearcher(*std::move(tree), std::move(leaves)));
}

GridSearcher::GridSearcher(ConfigurationTree tree, std::vector<ConfigurationTree::Leaf> leaves)
    : tree_(std::move(tree)),
      leaves_(std::move(leaves)),
      planned_(static_cast<int64_t>(leaves_.size())) {}

std::optional<Configuration> GridSearcher::Suggest(TrialNumber number) {
  RUNG_CHECK(number.value == created_);
  while (position_ < leaves_.size()) {
    Configuration configuration = tree_.At(leaves_[position_++]);
    if (!used_.empty() && used_.count(configuration.ToJson()) != 0) continue;
    ++created_;
    return configuration;
  }
  return std::nullopt;
}

void GridSearcher::Restore(std::span<const Configuration> created) {
  created_ = static_cast<int64_t>(created.size());
  position_ = 0;
  used_.clear();
  int64_t in_grid = 0;
  for (const Configuration& configuration : created) {
    const bool first = used_.insert(configuration.ToJson()).second;
    if (first && tree_.LeafOf(configuration)) ++in_grid;
  }
  planned_ = created_ + static_cast<int64_t>(leaves_.size()) - in_grid;
}

}  // namespace rung
