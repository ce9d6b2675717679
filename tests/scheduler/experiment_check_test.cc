#include "scheduler/experiment_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ExperimentCheck Check(std::string_view space, std::string_view searcher,
                      std::string_view scheduler = R"({"fifo": {}})", int32_t samples = 0) {
  const std::string document = fmt::format(
      R"({{"metric": "loss", "goal": "minimize", "space": {}, "searcher": {}, "scheduler": {},)"
      R"("trial": {{"command": ["train"]}}}})",
      space, searcher, scheduler);
  const absl::StatusOr<ExperimentCheck> check = CheckExperiment(document, "/w", samples);
  EXPECT_TRUE(check.ok()) << check.status();
  return check.value_or(ExperimentCheck{});
}

constexpr std::string_view kLr = R"({"lr": {"loguniform": [1e-6, 1e-4]}})";
constexpr std::string_view kEight = R"({"n": {"randint": [0, 8]}})";

TEST(ExperimentCheck, AnOrdinaryExperimentHasNoWarning) {
  EXPECT_THAT(Check(kLr, R"({"random": {"trials": 8}})").warnings, IsEmpty());
  EXPECT_THAT(Check(kEight, R"({"sobol": {"trials": 8}})").warnings, IsEmpty());
  EXPECT_THAT(Check(kEight, R"({"grid": {}})").warnings, IsEmpty());
}

TEST(ExperimentCheck, WarnsOfASpaceSmallerThanItsTrials) {
  const ExperimentCheck check = Check(kEight, R"({"random": {"trials": 100}})");
  EXPECT_EQ(check.planned_trials, 8);
  EXPECT_THAT(check.warnings,
              ElementsAre("searcher.random.trials: the space has only 8 configurations, so that "
                          "many of the 100 trials are created"));
  EXPECT_THAT(Check(kEight, R"({"sobol": {"trials": 9}})").warnings,
              ElementsAre(HasSubstr("searcher.sobol.trials: the space has only 8")));
}

TEST(ExperimentCheck, WarnsOfGridsThatTheTrialsDoNotFinish) {
  constexpr std::string_view kGrids =
      R"({"a": {"grid": [1, 2, 3]}, "b": {"grid": [1, 2]}, "x": {"uniform": [0, 1]}})";
  EXPECT_THAT(Check(kGrids, R"({"random": {"trials": 5}})").warnings,
              ElementsAre(HasSubstr("the grids of the space have more combinations than the 5")));
  EXPECT_THAT(Check(kGrids, R"({"random": {"trials": 6}})").warnings, IsEmpty());
}

TEST(ExperimentCheck, WarnsWhereNothingIsLeftToSearch) {
  EXPECT_THAT(Check(kLr, R"({"random": {"trials": 1, "initial_points": [{"lr": 1e-5}]}})").warnings,
              ElementsAre(HasSubstr("all 1 trials are initial_points")));
}

TEST(ExperimentCheck, WarnsOfUniformOverManyDecades) {
  EXPECT_THAT(Check(R"({"lr": {"uniform": [1e-6, 0.1]}})", R"({"random": {"trials": 8}})").warnings,
              ElementsAre(HasSubstr("space.lr: uniform over [1e-06, 0.1]")));
}

TEST(ExperimentCheck, GivesTheWarningsOfTheScheduler) {
  EXPECT_THAT(Check(kLr, R"({"random": {"trials": 3}})",
                    R"({"median": {"grace_period": 2, "min_rivals": 3}})")
                  .warnings,
              ElementsAre(HasSubstr("scheduler: min_rivals 3 is not below")));
}

TEST(ExperimentCheck, SamplesAreTheFirstConfigurations) {
  const ExperimentCheck check = Check(kLr, R"({"sobol": {"trials": 8}})", R"({"fifo": {}})", 3);
  EXPECT_THAT(check.samples, SizeIs(3));
  const ExperimentCheck more = Check(kLr, R"({"sobol": {"trials": 8}})", R"({"fifo": {}})", 9);
  EXPECT_THAT(more.samples, SizeIs(8));
  EXPECT_EQ(more.samples[2], check.samples[2]);
}

}  // namespace
}  // namespace rung
