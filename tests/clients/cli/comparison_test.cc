#include "clients/cli/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clients/cli/comparison_text.h"

namespace rung::cli {
namespace {

// A grid of two trials run to 100 and an ASHA experiment that stopped one of them at 10.
ExperimentFacts Grid() {
  return {.id = 1,
          .name = "grid",
          .state = "completed",
          .metric = "loss",
          .maximize = false,
          .by_what = "best reported",
          .wall_s = 250,
          .trials = {{"completed", 2}},
          .steps_spent = 200,
          .slot_hours = 0.139,
          .gpu_slots = false,
          .best_value = 0.30,
          .best_trial = 1,
          .best_step = 90,
          .best_params_json = R"({"lr":0.0001,"batch_size":16})",
          .values = {{"loss",
                      {{.trial_number = 0, .step = 100, .seconds = 100, .value = 0.5},
                       {.trial_number = 1, .step = 90, .seconds = 200, .value = 0.30},
                       {.trial_number = 1, .step = 100, .seconds = 250, .value = 0.4}}},
                     {"accuracy",
                      {{.trial_number = 0, .step = 100, .seconds = 100, .value = 0.9},
                       {.trial_number = 1, .step = 90, .seconds = 200, .value = 0.8},
                       {.trial_number = 1, .step = 100, .seconds = 250, .value = 0.85}}}}};
}

ExperimentFacts Asha() {
  return {
      .id = 2,
      .name = "asha",
      .state = "completed",
      .metric = "loss",
      .maximize = false,
      .by_what = "best reported",
      .wall_s = 100,
      .trials = {{"completed", 1}, {"stopped", 1}},
      .steps_spent = 110,
      .slot_hours = 0.05,
      .gpu_slots = false,
      .best_value = 0.25,
      .best_trial = 0,
      .best_step = 100,
      .best_params_json = R"({"lr":0.0002,"batch_size":32})",
      .values = {{"loss",
                  {{.trial_number = 0, .step = 10, .seconds = 10, .value = std::nan("")},
                   {.trial_number = 0, .step = 100, .seconds = 80, .value = 0.25},
                   {.trial_number = 1, .step = 10, .seconds = 60, .value = 0.3}}},
                 {"accuracy", {{.trial_number = 0, .step = 100, .seconds = 80, .value = 0.88}}}}};
}

TEST(Compare, SetsCostsAgainstTheFirst) {
  const Comparison comparison = Compare({Grid(), Asha()}, {}, 12.0);
  const ComparisonColumn& grid = comparison.columns[0];
  const ComparisonColumn& asha = comparison.columns[1];
  EXPECT_EQ(grid.steps_saved, 0);
  EXPECT_EQ(asha.steps_saved, 90);
  EXPECT_DOUBLE_EQ(asha.steps_saved_fraction.value_or(-1), 0.45);  // 90 / 200
  EXPECT_DOUBLE_EQ(asha.speed_up.value_or(-1), 2.5);               // 250 / 100
  EXPECT_DOUBLE_EQ(asha.money.value_or(-1), 0.6);                  // 0.05 * 12
  EXPECT_NEAR(asha.money_saved.value_or(-1), 1.068, 1e-12);        // (0.139 - 0.05) * 12
}

TEST(Compare, FindsWhenTheFirstOnesBestWasReached) {
  const Comparison comparison = Compare({Grid(), Asha()}, {{.name = "accuracy"}}, std::nullopt);
  ASSERT_EQ(comparison.metrics.size(), 2U);
  EXPECT_EQ(comparison.metrics[0].name, "loss");
  EXPECT_FALSE(comparison.metrics[0].maximize);
  EXPECT_DOUBLE_EQ(comparison.columns[0].metrics[0].reached_s.value_or(-1), 200);
  // Asha's own best comes at 80 s, but 0.3, as good as the grid's best, at 60 s.
  EXPECT_DOUBLE_EQ(comparison.columns[1].metrics[0].best_reached_s.value_or(-1), 80);
  EXPECT_DOUBLE_EQ(comparison.columns[1].metrics[0].reached_s.value_or(-1), 60);
  // 0.9 accuracy was never reached.
  EXPECT_FALSE(comparison.columns[1].metrics[1].reached_s.has_value());
}

TEST(Compare, TakesTheWinnersLastValueOfAShownMetric) {
  const Comparison comparison = Compare({Grid(), Asha()}, {{.name = "accuracy"}}, std::nullopt);
  EXPECT_DOUBLE_EQ(comparison.columns[0].metrics[1].best.value_or(-1), 0.9);          // trial 0
  EXPECT_DOUBLE_EQ(comparison.columns[0].metrics[1].winner_last.value_or(-1), 0.85);  // trial 1
  EXPECT_DOUBLE_EQ(comparison.columns[1].metrics[1].winner_last.value_or(-1), 0.88);
}

TEST(Compare, HoldsWithoutValuesStepsOrTime) {
  ExperimentFacts empty = Grid();
  empty.steps_spent = 0;
  empty.wall_s = 0;
  empty.best_value.reset();
  empty.best_trial.reset();
  empty.values.clear();
  const Comparison comparison = Compare({empty, empty}, {{.name = "accuracy"}}, std::nullopt);
  EXPECT_FALSE(comparison.columns[1].steps_saved_fraction.has_value());
  EXPECT_FALSE(comparison.columns[1].speed_up.has_value());
  EXPECT_FALSE(comparison.columns[1].metrics[0].best.has_value());
  EXPECT_FALSE(ComparisonText(comparison, std::nullopt, {}).empty());
}

TEST(ComparisonText, PutsAnExperimentInAColumn) {
  const Comparison comparison = Compare({Grid(), Asha()}, {{.name = "accuracy"}}, 12.0);
  EXPECT_EQ(ComparisonText(comparison, std::nullopt, {}),
            "                             grid (1)        asha (2)\n"
            "state                        completed       completed\n"
            "wall time                    4 min 10 s      1 min 40 s\n"
            "  times faster               -               2.50\n"
            "trials                       2: 2 completed  2: 1 completed, 1 stopped\n"
            "training steps spent         200             110\n"
            "  saved against the first    -               90 (45.0 %)\n"
            "slot-hours                   0.139 (CPU)     0.05 (CPU)\n"
            "money at $12.00 a slot-hour  $1.67           $0.60\n"
            "  saved against the first    -               $1.07\n"
            "best loss (best reported)    0.3             0.25\n"
            "  by trial                   1.1 at step 90  2.0 at step 100\n"
            "  lr                         0.0001          0.0002\n"
            "  batch_size                 16              32\n"
            "  first reached after        3 min 20 s      1 min 20 s\n"
            "  the first one's 0.3 after  3 min 20 s      1 min\n"
            "accuracy, max of any report  0.9             0.88\n"
            "  first reached after        1 min 40 s      1 min 20 s\n"
            "  of the best trial, last    0.85            0.88\n"
            "  the first one's 0.9 after  1 min 40 s      never\n"
            "\n"
            "money = sum of slot-hours x price of a slot-hour\n"
            "  grid (1): 0.139 x $12.00 = $1.67\n"
            "  asha (2): 0.05 x $12.00 = $0.60\n");
}

TEST(ComparisonText, AddsReferenceRows) {
  const ReferenceRows reference{.title = "the article",
                                .columns = {"grid search", "ASHA"},
                                .rows = {{.label = "wall time", .values = {"12 h", "2.6 h"}},
                                         {.label = "accuracy", .values = {"84.5 %"}}},
                                .note = "on ten machines"};
  const std::string text = ComparisonText(Compare({Grid()}, {}, std::nullopt), reference, {});
  EXPECT_TRUE(
      text.ends_with("\nthe article  grid search  ASHA\n"
                     "wall time    12 h         2.6 h\n"
                     "accuracy     84.5 %\n"
                     "on ten machines\n"))
      << text;
}

TEST(ComparisonJson, KeepsFullPrecisionAndNullsWhatIsMissing) {
  const Json json = ComparisonJson(Compare({Grid(), Asha()}, {}, std::nullopt), std::nullopt);
  EXPECT_TRUE(json["price"].is_null());
  EXPECT_FALSE(json.contains("reference"));
  const Json& asha = json["experiments"][1];
  EXPECT_EQ(asha["id"], 2);
  EXPECT_EQ(asha["best_trial"], "2.0");
  EXPECT_EQ(asha["best_params"]["batch_size"], 32);
  EXPECT_EQ(asha["steps_saved"], 90);
  EXPECT_TRUE(asha["money"].is_null());
  EXPECT_EQ(asha["metrics"][0]["first_best_reached_s"], 60);
}

}  // namespace
}  // namespace rung::cli
