#include "tests/search/promotion_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "core/counter_random.h"

/// Whole experiments under promotion: what holds at their end, whatever happened on the way.
namespace rung {
namespace {

constexpr AshaSpec k9 = {.max_t = 27,
                         .grace_period = 1,
                         .reduction_factor = 3,
                         .variant = AshaSpec::Variant::kPromotion};

double Draw(int64_t seed, int32_t trial, int64_t step, const char* name) {
  CounterRandom random(
      {.seed = seed * 1'000'003 + step, .trial = {trial}, .redraw = 0, .name = name});
  return random.NextUnit();
}

TEST(PromotionRun, InvariantHoldsForEveryArrivalOrderOfNineValues) {
  // Sanitizers make each order about 20 times dearer: there every 160th.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kEvery = 160;
#else
  constexpr int kEvery = 1;
#endif
  std::array<double, 9> values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  int64_t orders = 0;
  do {
    if (orders++ % kEvery != 0) continue;
    PromotionSetup setup;
    setup.spec = k9;
    setup.trials = 9;
    setup.value = [&](TrialNumber trial, Steps) {
      return values[static_cast<size_t>(trial.value)];
    };
    PromotionRun run(setup);
    run.Run();
    ASSERT_TRUE(run.InvariantHolds()) << orders;
    ASSERT_GE(run.completed.size(), 1U) << orders;
  } while (std::next_permutation(values.begin(), values.end()));
  EXPECT_EQ(orders, 362'880);
}

TEST(PromotionRun, EndsWithACompletedTrialWheneverOneCould) {
  for (const int32_t trials : {1, 2, 3, 9, 27}) {
    for (int workers = 1; workers <= 32; ++workers) {
      for (int64_t seed = 0; seed < 6; ++seed) {
        PromotionSetup setup;
        setup.spec = k9;
        setup.spec.brackets = 1 + static_cast<int32_t>(seed % 3);
        setup.seed = seed;
        setup.trials = trials;
        setup.workers = workers;
        setup.value = [&](TrialNumber trial, Steps) { return Draw(seed, trial.value, 0, "value"); };
        setup.pace = [&](TrialNumber trial) {
          return 1 + static_cast<int64_t>(Draw(seed, trial.value, 0, "pace") * 9);
        };
        // 3 of 10 fail, and with odd seeds 9 of 10, somewhere on their way.
        const double share = seed % 2 == 0 ? 0.3 : 0.9;
        setup.fails_at = [&](TrialNumber trial) -> std::optional<Steps> {
          if (Draw(seed, trial.value, 0, "fails") >= share) return std::nullopt;
          return 1 + static_cast<Steps>(Draw(seed, trial.value, 0, "when") * 27);
        };
        bool one_could = false;
        for (int32_t i = 0; i < trials; ++i) one_could = one_could || !setup.fails_at({i});
        PromotionRun run(setup);
        run.Run();
        ASSERT_EQ(!run.completed.empty(), one_could) << trials << "/" << workers << "/" << seed;
        ASSERT_TRUE(run.InvariantHolds()) << trials << "/" << workers << "/" << seed;
        ASSERT_EQ(run.completed.size() + run.paused.size() + run.over.size(),
                  static_cast<size_t>(trials));
      }
    }
  }
}

/// Curves with ties, NaN and infinities, failures, cancelled trials, several brackets.
PromotionSetup MixedSetup(int64_t seed) {
  PromotionSetup setup;
  setup.spec = k9;
  setup.spec.max_t = 40;  // the last level is 27: a fraction of 27/40 goes on
  setup.spec.brackets = 1 + static_cast<int32_t>(seed % 4);
  setup.spec.non_finite = static_cast<AshaSpec::NonFinite>(seed % 3);
  setup.goal = seed % 2 == 0 ? Goal::kMaximize : Goal::kMinimize;
  setup.seed = seed;
  setup.trials = 60;
  setup.workers = 1 + static_cast<int>(seed % 7);
  setup.value = [seed](TrialNumber trial, Steps step) {
    const double kind = Draw(seed, trial.value, step, "kind");
    if (kind < 0.05) return std::numeric_limits<double>::quiet_NaN();
    if (kind < 0.07) return std::numeric_limits<double>::infinity();
    return std::floor(Draw(seed, trial.value, step, "value") * 12);
  };
  setup.pace = [seed](TrialNumber trial) {
    return 1 + static_cast<int64_t>(Draw(seed, trial.value, 0, "pace") * 5);
  };
  setup.fails_at = [seed](TrialNumber trial) -> std::optional<Steps> {
    if (Draw(seed, trial.value, 0, "fails") >= 0.3) return std::nullopt;
    return 1 + static_cast<Steps>(Draw(seed, trial.value, 0, "when") * 40);
  };
  return setup;
}

TEST(PromotionRun, ClaimsAreThoseOfTheDefinitionWithFailuresTiesAndNan) {
  for (int64_t seed = 0; seed < 60; ++seed) {
    PromotionRun run(MixedSetup(seed));
    int looks = 0;
    run.Run([&](PromotionRun& now) {
      if (++looks % 9 == 0 && !now.paused.empty()) now.Cancel({*now.paused.begin()});
      std::vector<int32_t> claims;
      for (auto next = now.rule->NextPromotion(std::nullopt); next;
           next = now.rule->NextPromotion(*next)) {
        claims.push_back(next->value);
      }
      ASSERT_EQ(claims, now.Claims()) << seed;
    });
    ASSERT_TRUE(run.InvariantHolds()) << seed;
  }
}

TEST(PromotionRun, ARuleRestoredAtAnyReportGoesOnAsTheOldOne) {
  for (int64_t seed = 0; seed < 12; ++seed) {
    PromotionRun whole(MixedSetup(seed));
    whole.Run();
    PromotionRun restarted(MixedSetup(seed));
    restarted.Run([&](PromotionRun& now) {
      const PromotionSetup setup = MixedSetup(seed);
      now.rule = *MakeStoppingRule(setup.spec, setup.goal, setup.seed);
      now.rule->Restore(now.rows);
      for (const int32_t trial : now.over) now.rule->OnTrialEnded({trial}, TrialState::kFailed);
    });
    ASSERT_EQ(restarted.rows.size(), whole.rows.size()) << seed;
    for (size_t i = 0; i < whole.rows.size(); ++i) {
      const DecisionRecord& a = whole.rows[i];
      const DecisionRecord& b = restarted.rows[i];
      ASSERT_EQ(std::tuple(a.bracket, a.level, a.trial, a.step, a.n_before, a.entries, a.rank,
                           a.decision, a.reason),
                std::tuple(b.bracket, b.level, b.trial, b.step, b.n_before, b.entries, b.rank,
                           b.decision, b.reason))
          << seed << " row " << i;
    }
    ASSERT_EQ(restarted.completed, whole.completed);
    ASSERT_EQ(restarted.paused, whole.paused);
  }
}

TEST(PromotionRun, MirroredStreamsDecideAlike) {
  for (int64_t seed = 0; seed < 20; ++seed) {
    PromotionSetup up = MixedSetup(seed);
    PromotionSetup down = up;
    up.goal = Goal::kMaximize;
    down.goal = Goal::kMinimize;
    down.value = [up](TrialNumber trial, Steps step) { return -up.value(trial, step); };
    PromotionRun a(up);
    PromotionRun b(down);
    a.Run();
    b.Run();
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (size_t i = 0; i < a.rows.size(); ++i) {
      ASSERT_EQ(a.rows[i].trial, b.rows[i].trial);
      ASSERT_EQ(a.rows[i].rank, b.rows[i].rank);
      ASSERT_EQ(a.rows[i].decision, b.rows[i].decision);
      ASSERT_EQ(a.rows[i].reason, b.rows[i].reason);
    }
  }
}

TEST(PromotionRun, ThreeTrialsAreDrainedToTheEndWithoutARestart) {
  PromotionSetup setup;
  setup.spec = {.max_t = 100,
                .grace_period = 10,
                .reduction_factor = 3,
                .variant = AshaSpec::Variant::kPromotion};
  setup.trials = 3;
  setup.value = [](TrialNumber trial, Steps) { return static_cast<double>(trial.value); };
  PromotionRun run(setup);
  run.Run();
  EXPECT_THAT(run.completed, testing::ElementsAre(2));
  EXPECT_THAT(run.paused, testing::ElementsAre(0, 1));
  EXPECT_EQ(run.restarts, 0);
  std::vector<std::string> words;
  for (const DecisionRecord& row : run.rows) {
    words.push_back(row.decision + " " + row.reason + " at " + std::to_string(row.level));
  }
  EXPECT_THAT(words, testing::ElementsAre("pause below_top at 10", "pause below_top at 10",
                                          "continue promoted_on_arrival at 10",
                                          "promote promoted_on_arrival at 10",
                                          "continue drain at 30", "promote drain at 30",
                                          "continue drain at 90", "promote drain at 90"));
}

}  // namespace
}  // namespace rung
