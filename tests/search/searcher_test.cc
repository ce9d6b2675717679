#include "search/searcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

/// What every searcher promises, checked for each of them, and the errors of MakeSearcher.
namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Configuration Point(std::vector<Parameter> parameters) { return {std::move(parameters)}; }

SpaceSpec MixedSpace() {
  return {{{.name = "lr", .domain = LogUniform{1e-6, 1e-4}, .when = {}},
           {.name = "batch", .domain = Choice{{"16", "32", "64"}}, .when = {}},
           {.name = "warmup", .domain = RandInt{500, 2000}, .when = {}},
           {.name = "epochs", .domain = Constant{"3"}, .when = {}}}};
}

/// 2 · (1 + 3) configurations: momentum applies to sgd alone.
SpaceSpec FiniteSpace() {
  return {{{.name = "optimizer", .domain = Choice{{"\"adam\"", "\"sgd\""}}, .when = {}},
           {.name = "momentum",
            .domain = QUniform{0.2, 0.8, 0.3},
            .when = {{.parameter = "optimizer", .values = {"\"sgd\""}}}},
           {.name = "layers", .domain = RandInt{1, 3}, .when = {}}}};
}

/// 8 configurations for each of 3 values of a grid.
SpaceSpec GridSpace() {
  SpaceSpec space = FiniteSpace();
  space.parameters.push_back({.name = "fold", .domain = GridValues{{"0", "1", "2"}}, .when = {}});
  return space;
}

Configuration AdamPoint() { return Point({{"optimizer", "\"adam\""}, {"layers", "2"}}); }

struct Case {
  std::string name;
  SearcherSpec spec;
  SpaceSpec space;
  int64_t trials;      ///< how many there are in all
  std::string reason;  ///< why it ends
};

std::vector<Case> Cases() {
  const std::vector<Configuration> points = {
      Point({{"optimizer", "\"sgd\""}, {"momentum", "0.5"}, {"layers", "1"}}), AdamPoint()};
  const Configuration mixed =
      Point({{"lr", "1e-05"}, {"batch", "32"}, {"warmup", "600"}, {"epochs", "3"}});
  return {
      {"RandomInfinite", {RandomSearcherSpec{40}, {}}, MixedSpace(), 40, "trials_exhausted"},
      {"RandomInfiniteWithInitial",
       {RandomSearcherSpec{40}, {mixed}},
       MixedSpace(),
       40,
       "trials_exhausted"},
      {"RandomFinite", {RandomSearcherSpec{100}, {}}, FiniteSpace(), 8, "space_exhausted"},
      {"RandomFiniteCut", {RandomSearcherSpec{5}, {}}, FiniteSpace(), 5, "trials_exhausted"},
      {"RandomFiniteWithInitial",
       {RandomSearcherSpec{100}, points},
       FiniteSpace(),
       8,
       "space_exhausted"},
      {"SobolInfinite", {SobolSearcherSpec{40}, {}}, MixedSpace(), 40, "trials_exhausted"},
      {"SobolInfiniteWithInitial",
       {SobolSearcherSpec{40}, {mixed}},
       MixedSpace(),
       40,
       "trials_exhausted"},
      {"SobolFinite", {SobolSearcherSpec{100}, {}}, FiniteSpace(), 8, "space_exhausted"},
      {"SobolFiniteCut", {SobolSearcherSpec{5}, {}}, FiniteSpace(), 5, "trials_exhausted"},
      {"SobolFiniteWithInitial",
       {SobolSearcherSpec{100}, points},
       FiniteSpace(),
       8,
       "space_exhausted"},
      {"SobolFiniteWithGrids", {SobolSearcherSpec{100}, {}}, GridSpace(), 24, "space_exhausted"},
      {"RandomFiniteWithGrids", {RandomSearcherSpec{100}, {}}, GridSpace(), 24, "space_exhausted"},
      {"Grid", {GridSearcherSpec{}, {}}, FiniteSpace(), 8, "space_exhausted"},
      {"GridWithInitial", {GridSearcherSpec{}, points}, FiniteSpace(), 8, "space_exhausted"},
      // 3 · 3 · 2 combinations, and an initial point whose warm-up of 600 is not among them.
      {"GridOfRanges",
       {GridSearcherSpec{{{"lr", 3}, {"warmup", 2}}, false}, {mixed}},
       MixedSpace(),
       19,
       "space_exhausted"},
      {"Points", {PointsSearcherSpec{points}, {}}, FiniteSpace(), 2, "trials_exhausted"},
      {"PointsWithInitial",
       {PointsSearcherSpec{points}, {AdamPoint()}},
       FiniteSpace(),
       2,
       "trials_exhausted"},
  };
}

class EverySearcher : public ::testing::TestWithParam<Case> {
 protected:
  static std::unique_ptr<Searcher> Make(int64_t seed = 7) {
    absl::StatusOr<std::unique_ptr<Searcher>> searcher =
        MakeSearcher(GetParam().spec, GetParam().space, seed);
    EXPECT_TRUE(searcher.ok()) << searcher.status();
    return *std::move(searcher);
  }
  static std::vector<Configuration> All(Searcher& searcher, size_t from = 0) {
    std::vector<Configuration> all;
    while (true) {
      const TrialNumber next{static_cast<int32_t>(from + all.size())};
      std::optional<Configuration> configuration = searcher.Suggest(next);
      if (!configuration) return all;
      all.push_back(*std::move(configuration));
    }
  }
};

TEST_P(EverySearcher, CreatesExactlyAsManyTrialsAsPlannedAndSaysWhyItEnds) {
  const auto searcher = Make();
  EXPECT_EQ(searcher->PlannedTrials(), GetParam().trials);
  const size_t created = All(*searcher).size();
  EXPECT_EQ(static_cast<int64_t>(created), GetParam().trials);
  EXPECT_EQ(searcher->PlannedTrials(), GetParam().trials);
  EXPECT_EQ(searcher->Suggest({static_cast<int32_t>(created)}), std::nullopt);
  EXPECT_EQ(searcher->ExhaustedReason(), GetParam().reason);
}

TEST_P(EverySearcher, SuggestsNoConfigurationTwice) {
  std::set<std::string> seen;
  for (const Configuration& configuration : All(*Make())) {
    EXPECT_TRUE(seen.insert(configuration.ToJson()).second) << configuration.ToJson();
  }
}

TEST_P(EverySearcher, IsAFunctionOfItsSeed) { EXPECT_EQ(All(*Make()), All(*Make())); }

TEST_P(EverySearcher, InitialPointsComeFirst) {
  const auto searcher = Make();
  for (size_t i = 0; i < GetParam().spec.initial_points.size(); ++i) {
    EXPECT_EQ(searcher->Suggest({static_cast<int32_t>(i)}), GetParam().spec.initial_points[i]);
  }
}

TEST_P(EverySearcher, RestoredAtAnyTrialGoesOnAsTheOldOne) {
  const std::vector<Configuration> all = All(*Make());
  for (size_t created = 0; created <= all.size(); ++created) {
    const auto fresh = Make();
    fresh->Restore(std::span(all).first(created));
    EXPECT_EQ(fresh->PlannedTrials(), GetParam().trials) << created;
    const std::vector<Configuration> rest = All(*fresh, created);
    ASSERT_EQ(rest, std::vector(all.begin() + static_cast<ptrdiff_t>(created), all.end()));
    EXPECT_EQ(fresh->ExhaustedReason(), GetParam().reason);
  }
}

INSTANTIATE_TEST_SUITE_P(Searcher, EverySearcher, ::testing::ValuesIn(Cases()),
                         [](const auto& tested) { return tested.param.name; });

std::string ErrorOf(const SearcherSpec& spec, const SpaceSpec& space) {
  const auto searcher = MakeSearcher(spec, space, 0);
  EXPECT_EQ(searcher.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(searcher.status().message());
}

TEST(MakeSearcher, PointsThatDoNotFitTheSpaceAreRefusedWithTheirPath) {
  const auto error = [](const Configuration& point) {
    return ErrorOf({PointsSearcherSpec{{AdamPoint(), point}}, {}}, FiniteSpace());
  };
  EXPECT_EQ(error(Point({{"optimizer", "\"adam\""}})),
            "searcher.points[1].layers: missing, every parameter that applies must be given");
  EXPECT_EQ(error(Point({{"optimizer", "\"adam\""}, {"layers", "3"}})),
            "searcher.points[1].layers: must be an integer from 1 to 2, found 3");
  EXPECT_EQ(error(Point({{"optimizer", "\"lion\""}, {"layers", "1"}})),
            "searcher.points[1].optimizer: must be one of \"adam\", \"sgd\", found \"lion\"");
  EXPECT_EQ(error(Point({{"optimizer", "\"adam\""}, {"layers", "1"}, {"depth", "1"}})),
            "searcher.points[1].depth: no parameter of the space. Parameters: optimizer, momentum, "
            "layers");
  EXPECT_EQ(error(Point({{"optimizer", "\"adam\""}, {"momentum", "0.5"}, {"layers", "1"}})),
            "searcher.points[1].momentum: must be left out, since its `when` does not hold");
  EXPECT_EQ(
      error(Point({{"optimizer", "\"sgd\""}, {"momentum", "0.3"}, {"layers", "1"}})),
      "searcher.points[1].momentum: must be 0.2 plus a multiple of 0.3, at most 0.8, found 0.3");
  EXPECT_EQ(error(AdamPoint()), "searcher.points[1]: repeats searcher.points[0]");
}

TEST(MakeSearcher, PointsGetTheTypesAndTheConstantsOfTheSpace) {
  const SpaceSpec space = {{{.name = "x", .domain = Uniform{0, 2}, .when = {}},
                            {.name = "c", .domain = Constant{"\"k\""}, .when = {}}}};
  const auto searcher = MakeSearcher({PointsSearcherSpec{{Point({{"x", "1"}})}}, {}}, space, 0);
  ASSERT_TRUE(searcher.ok());
  EXPECT_EQ((*searcher)->Suggest({0})->ToJson(), R"({"x":1.0,"c":"k"})");
}

TEST(MakeSearcher, MoreInitialPointsThanTrialsAreRefused) {
  EXPECT_THAT(ErrorOf({RandomSearcherSpec{1},
                       {AdamPoint(), Point({{"optimizer", "\"adam\""}, {"layers", "1"}})}},
                      FiniteSpace()),
              HasSubstr("searcher.random.trials: must be at least the number of initial_points"));
  EXPECT_THAT(ErrorOf({RandomSearcherSpec{0}, {}}, FiniteSpace()),
              HasSubstr("searcher.random.trials: must be at least 1, found 0"));
}

TEST(MakeSearcher, ConditionsOnNothingOrThatNeverHoldOrInACircleAreRefused) {
  SpaceSpec space = FiniteSpace();
  space.parameters[0].when = {{.parameter = "momentum", .values = {"0.5"}}};
  EXPECT_EQ(
      ErrorOf({RandomSearcherSpec{1}, {}}, space),
      "space.optimizer.when: must not lead back to a parameter that waits for this one, found "
      "a cycle");
  space.parameters[0].when = {{.parameter = "nothing", .values = {"0.5"}}};
  EXPECT_EQ(ErrorOf({RandomSearcherSpec{1}, {}}, space),
            "space.optimizer.when.nothing: no parameter of the space. Parameters: optimizer, "
            "momentum, layers");
  space.parameters[0].when = {{.parameter = "layers", .values = {"1", "3"}}};
  EXPECT_EQ(ErrorOf({RandomSearcherSpec{1}, {}}, space),
            "space.optimizer.when.layers[1]: must be an integer from 1 to 2, found 3");
}

TEST(MakeSearcher, AConditionHoldsForTheSameNumberWrittenOtherwise) {
  // x is drawn as 0.0 or 1.0.
  const SpaceSpec space = {
      {{.name = "x", .domain = QUniform{0, 1, 1}, .when = {}},
       {.name = "y", .domain = RandInt{5, 6}, .when = {{.parameter = "x", .values = {"1"}}}}}};
  const auto searcher = MakeSearcher({GridSearcherSpec{{}, /*listed=*/true}, {}}, space, 0);
  ASSERT_TRUE(searcher.ok()) << searcher.status();
  EXPECT_EQ((*searcher)->Suggest({0})->ToJson(), R"({"x":0.0})");
  EXPECT_EQ((*searcher)->Suggest({1})->ToJson(), R"({"x":1.0,"y":5})");
  EXPECT_EQ((*searcher)->Suggest({2}), std::nullopt);
}

TEST(MakeSearcher, MessagesAboutInitialPointsNameWhereTheyStand) {
  SearcherSpec spec{RandomSearcherSpec{9}, {Point({{"optimizer", "1"}})}};
  EXPECT_THAT(ErrorOf(spec, FiniteSpace()),
              HasSubstr("searcher.initial_points[0].optimizer: must be one of"));
  spec.initial_points_path = "searcher.random.initial_points";
  EXPECT_THAT(ErrorOf(spec, FiniteSpace()),
              HasSubstr("searcher.random.initial_points[0].optimizer: must be one of"));
}

TEST(MakeSearcher, MessagesShowTheStartOfALongValue) {
  const std::string text = '"' + std::string(100'000, 'x') + '"';
  EXPECT_EQ(ErrorOf({PointsSearcherSpec{{Point({{"optimizer", text}})}}, {}}, FiniteSpace()),
            "searcher.points[0].optimizer: must be one of \"adam\", \"sgd\", found \"" +
                std::string(59, 'x') + "…");
}

TEST(MakeSearcher, SobolNeedsATrialAndRoomForItsInitialPoints) {
  EXPECT_EQ(ErrorOf({SobolSearcherSpec{0}, {}}, FiniteSpace()),
            "searcher.sobol.trials: must be at least 1, found 0");
  EXPECT_THAT(ErrorOf({SobolSearcherSpec{1},
                       {AdamPoint(), Point({{"optimizer", "\"adam\""}, {"layers", "1"}})}},
                      FiniteSpace()),
              HasSubstr("searcher.sobol.trials: must be at least the number of initial_points"));
}

std::vector<std::string> Values(const SearcherSpec& spec, const SpaceSpec& space,
                                const std::string& name) {
  const auto searcher = MakeSearcher(spec, space, 0);
  EXPECT_TRUE(searcher.ok()) << searcher.status();
  std::vector<std::string> values;
  for (int32_t i = 0; const auto configuration = (*searcher)->Suggest({i}); ++i) {
    values.push_back(*configuration->Find(name));
  }
  return values;
}

std::vector<std::string> GridOf(const Domain& domain, int32_t points) {
  return Values({GridSearcherSpec{{{"x", points}}, /*listed=*/true}, {}},
                {{{.name = "x", .domain = domain, .when = {}}}}, "x");
}

TEST(GridSearcher, SpacesPointsEvenlyWithBothEnds) {
  EXPECT_THAT(GridOf(LogUniform{1e-6, 1e-4}, 3), ElementsAre("1e-06", "1e-05", "1e-04"));
  EXPECT_THAT(GridOf(Uniform{0, 0.1}, 3), ElementsAre("0.0", "0.05", "0.1"));
  EXPECT_THAT(GridOf(Uniform{0, 0.1}, 1), ElementsAre("0.05"));
  // 500 … 1999: the middle is 1249.5, rounded half up.
  EXPECT_THAT(GridOf(RandInt{500, 2000}, 3), ElementsAre("500", "1250", "1999"));
  EXPECT_THAT(GridOf(RandInt{-3, 0}, 2), ElementsAre("-3", "-1"));
  // 0, 0.67, 1.33, 2 → 0 1 1 2
  EXPECT_THAT(GridOf(RandInt{0, 3}, 4), ElementsAre("0", "1", "2"));
  // 1, sqrt(1000) = 31.6, 1000
  EXPECT_THAT(GridOf(LogRandInt{1, 1001}, 3), ElementsAre("1", "32", "1000"));
  EXPECT_THAT(GridOf(QRandInt{1, 10, 3}, 2), ElementsAre("1", "10"));
  EXPECT_THAT(GridOf(QUniform{0.2, 0.8, 0.3}, 3), ElementsAre("0.2", "0.5", "0.8"));
  EXPECT_THAT(GridOf(QLogUniform{1, 100, 1}, 3), ElementsAre("1.0", "10.0", "100.0"));
}

TEST(GridSearcher, RangesWithoutPointsGiveAllValuesAndContinuousOnesAreAnError) {
  EXPECT_THAT(Values({GridSearcherSpec{{}, true}, {}},
                     {{{.name = "x", .domain = RandInt{1, 4}, .when = {}}}}, "x"),
              ElementsAre("1", "2", "3"));
  EXPECT_THAT(ErrorOf({GridSearcherSpec{}, {}}, MixedSpace()),
              HasSubstr("searcher.grid.points.lr: is missing"));
  EXPECT_THAT(ErrorOf({GridSearcherSpec{{{"lr", 3}, {"rate", 3}}, false}, {}}, MixedSpace()),
              HasSubstr("searcher.grid.points.rate: no parameter"));
  EXPECT_THAT(ErrorOf({GridSearcherSpec{{{"lr", 0}}, false}, {}}, MixedSpace()),
              HasSubstr("searcher.grid.points.lr: must lie in 1 …"));
  EXPECT_THAT(ErrorOf({GridSearcherSpec{{{"lr", 3}, {"batch", 2}}, false}, {}}, MixedSpace()),
              HasSubstr("searcher.grid.points.batch: is no range; all of its 3 values"));
}

TEST(GridSearcher, AGridBeyondItsLimitIsRefused) {
  const SpaceSpec space = {{{.name = "x", .domain = RandInt{0, 1001}, .when = {}},
                            {.name = "y", .domain = RandInt{0, 1000}, .when = {}}}};
  EXPECT_THAT(ErrorOf({GridSearcherSpec{}, {}}, space), HasSubstr("more than 1000000"));
}

/// `choices` parameters of two values and as many constants as make `parameters` in all.
SpaceSpec WideSpace(size_t choices, size_t parameters) {
  SpaceSpec space;
  for (size_t i = 0; i < parameters; ++i) {
    space.parameters.push_back(
        {.name = "p" + std::to_string(i),
         .domain = i < choices ? Domain(Choice{{"0", "1"}}) : Domain(Constant{"7"}),
         .when = {}});
  }
  return space;
}

TEST(GridSearcher, TheLimitIsLowerInASpaceOfManyParameters) {
  // 10,000,000 / (1 + 999) = 10,000 combinations.
  EXPECT_EQ(ErrorOf({GridSearcherSpec{}, {}}, WideSpace(14, 999)),  // 16,384
            "searcher.grid: has more than 10000 combinations, the most for a space of 999 "
            "parameters");
  const auto searcher = MakeSearcher({GridSearcherSpec{}, {}}, WideSpace(13, 999), 0);
  ASSERT_TRUE(searcher.ok()) << searcher.status();
  EXPECT_EQ((*searcher)->PlannedTrials(), 8192);
}

TEST(GridSearcher, RestoresAGridOfManyPoints) {
  const SpaceSpec space = {{{.name = "x", .domain = Uniform{0, 1}, .when = {}}}};
  const SearcherSpec spec{GridSearcherSpec{{{"x", 100'000}}, /*listed=*/true}, {}};
  const auto searcher = MakeSearcher(spec, space, 0);
  ASSERT_TRUE(searcher.ok()) << searcher.status();
  std::vector<Configuration> created;
  for (int32_t i = 0; i < 99'999; ++i) created.push_back(*(*searcher)->Suggest({i}));
  (*searcher)->Restore(created);
  EXPECT_EQ((*searcher)->PlannedTrials(), 100'000);
  EXPECT_EQ((*searcher)->Suggest({99'999})->ToJson(), R"({"x":1.0})");
  EXPECT_EQ((*searcher)->Suggest({100'000}), std::nullopt);
}

TEST(GridSearcher, ListedOrderTurnsTheLastParameterFastest) {
  const SpaceSpec space = {{{.name = "a", .domain = Choice{{"1", "2"}}, .when = {}},
                            {.name = "b", .domain = Choice{{"true", "false"}}, .when = {}}}};
  EXPECT_THAT(Values({GridSearcherSpec{{}, true}, {}}, space, "a"),
              ElementsAre("1", "1", "2", "2"));
  EXPECT_THAT(Values({GridSearcherSpec{{}, true}, {}}, space, "b"),
              ElementsAre("true", "false", "true", "false"));
}

std::optional<int64_t> PlannedOf(int32_t trials, const SpaceSpec& space) {
  const auto searcher = MakeSearcher({RandomSearcherSpec{trials}, {}}, space, 0);
  EXPECT_TRUE(searcher.ok()) << searcher.status();
  return (*searcher)->PlannedTrials();
}

TEST(RandomSearcher, CountsTheLeavesOfAConditionalSpaceOnlyAsFarAsTheLimitGoes) {
  // 1 + 2^20 configurations, of which 10,000,000 / (1 + 999 + 20) = 9,803 may be walked.
  SpaceSpec space = WideSpace(21, 999);
  for (size_t i = 1; i < 21; ++i) {
    space.parameters[i].when = {{.parameter = "p0", .values = {"1"}}};
  }
  EXPECT_EQ(PlannedOf(9'803, space), 9'803);
  EXPECT_EQ(PlannedOf(9'804, space), std::nullopt);
  // Two unconditional parameters have enough values alone.
  space.parameters[30].domain = RandInt{0, 1000};
  space.parameters[31].domain = RandInt{0, 500};
  EXPECT_EQ(PlannedOf(1'000'000, space), 1'000'000);
}

TEST(RandomSearcher, GridValuesGoByTrialNumber) {
  const SpaceSpec space = {{{.name = "a", .domain = GridValues{{"1", "2"}}, .when = {}},
                            {.name = "x", .domain = Uniform{0, 1}, .when = {}},
                            {.name = "b", .domain = GridValues{{"7", "8", "9"}}, .when = {}}}};
  const SearcherSpec spec{RandomSearcherSpec{7}, {}};
  EXPECT_THAT(Values(spec, space, "a"), ElementsAre("1", "1", "1", "2", "2", "2", "1"));
  EXPECT_THAT(Values(spec, space, "b"), ElementsAre("7", "8", "9", "7", "8", "9", "7"));
}

TEST(RandomSearcher, AParameterDoesNotDependOnTheOthers) {
  SpaceSpec space = MixedSpace();
  const SearcherSpec spec{RandomSearcherSpec{20}, {}};
  const std::vector<std::string> before = Values(spec, space, "lr");
  space.parameters.erase(space.parameters.begin() + 1);
  space.parameters.insert(space.parameters.begin(),
                          {.name = "more", .domain = Uniform{0, 1}, .when = {}});
  EXPECT_EQ(Values(spec, space, "lr"), before);
}

TEST(RandomSearcher, UsesUpASpaceWithAVeryUnlikelyValue) {
  // 2 has odds of 1 in 100,001, so 1,000 redraws hardly ever find it: the walk does.
  std::vector<std::string> values(100'000, "1");
  values.emplace_back("2");
  const SpaceSpec space = {{{.name = "x", .domain = Choice{values}, .when = {}},
                            {.name = "y", .domain = RandInt{0, 2}, .when = {}}}};
  EXPECT_THAT(Values({RandomSearcherSpec{100}, {}}, space, "x"), ElementsAre("1", "1", "2", "2"));
}

}  // namespace
}  // namespace rung
