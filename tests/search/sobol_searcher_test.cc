#include "search/sobol_searcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "search/value_list.h"

/// What is particular to the searcher; searcher_test.cc has what all promise, and
/// configurations_test.cc its golden file.
namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<Configuration> Suggestions(const SearcherSpec& spec, const SpaceSpec& space,
                                       int64_t seed = 0) {
  const auto searcher = MakeSearcher(spec, space, seed);
  EXPECT_TRUE(searcher.ok()) << searcher.status();
  std::vector<Configuration> all;
  for (int32_t i = 0; auto configuration = (*searcher)->Suggest({i}); ++i) {
    all.push_back(*std::move(configuration));
  }
  return all;
}

std::vector<std::string> Texts(const std::vector<Configuration>& all, const std::string& name) {
  std::vector<std::string> texts;
  for (const Configuration& configuration : all) texts.push_back(*configuration.Find(name));
  return texts;
}

SpaceSpec UnitCube(const std::vector<std::string>& names) {
  SpaceSpec space;
  for (const std::string& name : names) {
    space.parameters.push_back({.name = name, .domain = Uniform{0, 1}, .when = {}});
  }
  return space;
}

std::vector<std::vector<double>> Points(const SearcherSpec& spec, const SpaceSpec& space,
                                        int64_t seed) {
  std::vector<std::vector<double>> points;
  for (const Configuration& configuration : Suggestions(spec, space, seed)) {
    std::vector<double>& point = points.emplace_back();
    for (const Parameter& parameter : configuration.parameters) {
      point.push_back(ParseJsonNumber(parameter.json).value());
    }
  }
  return points;
}

/// The L2 star discrepancy, by Warnock (1972).
double Discrepancy(const std::vector<std::vector<double>>& points) {
  const auto n = static_cast<double>(points.size());
  double single = 0;
  double pairs = 0;
  for (const std::vector<double>& a : points) {
    double product = 1;
    for (const double x : a) product *= (1 - x * x) / 2;
    single += product;
    for (const std::vector<double>& b : points) {
      double both = 1;
      for (size_t d = 0; d < a.size(); ++d) both *= 1 - std::max(a[d], b[d]);
      pairs += both;
    }
  }
  const double cube = std::pow(3.0, -static_cast<double>(points.front().size()));
  return std::sqrt(cube - 2 / n * single + pairs / (n * n));
}

TEST(SobolSearcher, FillsTheSpaceMoreEvenlyThanRandomPoints) {
  const SpaceSpec space = UnitCube({"a", "b", "c", "d"});
  for (const int32_t trials : {27, 128, 256}) {  // a power of two and not
    for (int64_t seed = 0; seed < 20; ++seed) {
      const double sobol = Discrepancy(Points({SobolSearcherSpec{trials}, {}}, space, seed));
      const double random = Discrepancy(Points({RandomSearcherSpec{trials}, {}}, space, seed));
      EXPECT_LT(sobol, random) << trials << " seed " << seed;
    }
  }
}

TEST(SobolSearcher, EveryParameterFillsEveryCellOfAPowerOfTwoOnce) {
  const auto points = Points({SobolSearcherSpec{64}, {}}, UnitCube({"a", "b", "c"}), 3);
  for (size_t d = 0; d < 3; ++d) {
    std::set<int> cells;
    for (const std::vector<double>& point : points) cells.insert(static_cast<int>(point[d] * 64));
    EXPECT_EQ(cells.size(), 64U);
  }
}

TEST(SobolSearcher, GivesChoicesEvenCounts) {
  SpaceSpec space = UnitCube({"x"});
  space.parameters.push_back({.name = "c", .domain = Choice{{"1", "2", "3", "4"}}, .when = {}});
  const std::vector<std::string> texts =
      Texts(Suggestions({SobolSearcherSpec{64}, {}}, space), "c");
  for (const char* value : {"1", "2", "3", "4"}) {
    EXPECT_EQ(std::count(texts.begin(), texts.end(), value), 16) << value;
  }
}

TEST(SobolSearcher, DoesNotDependOnTheOrderInWhichParametersAreWritten) {
  const auto one = Suggestions({SobolSearcherSpec{20}, {}}, UnitCube({"a", "b", "c"}), 5);
  const auto other = Suggestions({SobolSearcherSpec{20}, {}}, UnitCube({"c", "a", "b"}), 5);
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(Texts(one, name), Texts(other, name));
}

TEST(SobolSearcher, AnotherSeedGivesOtherPoints) {
  const SpaceSpec space = UnitCube({"a"});
  EXPECT_NE(Suggestions({SobolSearcherSpec{8}, {}}, space, 1),
            Suggestions({SobolSearcherSpec{8}, {}}, space, 2));
}

TEST(SobolSearcher, PointsAfterInitialOnesAreThoseWithoutThem) {
  const SpaceSpec space = UnitCube({"a", "b"});
  const Configuration initial = {{{"a", "0.5"}, {"b", "0.25"}}};
  const auto plain = Suggestions({SobolSearcherSpec{16}, {}}, space, 5);
  auto after = Suggestions({SobolSearcherSpec{17}, {initial}}, space, 5);
  ASSERT_EQ(after.size(), 17U);
  EXPECT_EQ(after.front(), initial);
  after.erase(after.begin());
  EXPECT_EQ(after, plain);
}

TEST(SobolSearcher, EveryGridCombinationHasEvenPointsOfItsOwn) {
  SpaceSpec space = UnitCube({"x"});
  space.parameters.push_back({.name = "g", .domain = GridValues{{"1", "2"}}, .when = {}});
  const auto all = Suggestions({SobolSearcherSpec{32}, {}}, space, 5);
  for (const size_t combination : {0U, 1U}) {
    std::set<int> cells;
    for (size_t i = combination; i < all.size(); i += 2) {
      EXPECT_EQ(*all[i].Find("g"), combination == 0 ? "1" : "2");
      cells.insert(static_cast<int>(ParseJsonNumber(*all[i].Find("x")).value() * 16));
    }
    EXPECT_EQ(cells.size(), 16U);
  }
}

TEST(SobolSearcher, UsesUpASpaceWithAVeryUnlikelyValue) {
  // 1,000 points hardly ever find the 2 among 100,001 values: the walk behind them does.
  std::vector<std::string> values(100'000, "1");
  values.emplace_back("2");
  const SpaceSpec space = {{{.name = "x", .domain = Choice{values}, .when = {}},
                            {.name = "y", .domain = RandInt{0, 2}, .when = {}}}};
  EXPECT_THAT(Texts(Suggestions({SobolSearcherSpec{100}, {}}, space), "x"),
              UnorderedElementsAre("1", "1", "2", "2"));
}

TEST(SobolSearcher, ASpaceOfConstantsAndGridsNeedsNoDimension) {
  const SpaceSpec space = {{{.name = "c", .domain = Constant{"1"}, .when = {}},
                            {.name = "g", .domain = GridValues{{"7", "8", "9"}}, .when = {}}}};
  EXPECT_THAT(Texts(Suggestions({SobolSearcherSpec{10}, {}}, space), "g"),
              ElementsAre("7", "8", "9"));
}

TEST(SobolSearcher, MoreDimensionsThanKnownAreRefusedWithTheirNumber) {
  std::vector<std::string> names;
  for (size_t i = 0; i <= SobolSequence::kDimensionsMax; ++i) {
    names.push_back("p" + std::to_string(i));
  }
  EXPECT_EQ(MakeSearcher({SobolSearcherSpec{1}, {}}, UnitCube(names), 0).status().message(),
            "searcher.sobol: the space may draw at most 3667 parameters (the dimensions with known "
            "direction numbers), found 3668");
  names.pop_back();
  EXPECT_TRUE(MakeSearcher({SobolSearcherSpec{1}, {}}, UnitCube(names), 0).ok());
}

}  // namespace
}  // namespace rung
