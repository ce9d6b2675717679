#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/scheduler/decision_replay.h"
#include "tests/scheduler/scheduler_world.h"
#include "tests/scheduler/sim_worker.h"
#include "tests/scheduler/stored_claims.h"

/// Whole promotion experiments through the scheduler: each ends, with a completed trial whenever
/// one could complete, and the invariant of EARLY_STOPPING.md §4 holds in what it stored.
namespace rung {
namespace {

struct Setup {
  int32_t trials = 1;
  int32_t slots = 1;
  uint64_t seed = 0;
};

/// Trials on one or two workers, which keep the checkpoints; 3 of 10 fail, 1 of 10 report NaN, and
/// many values are equal.
class WholeRun {
 public:
  explicit WholeRun(const Setup& setup) : setup_(setup), random_(setup.seed * 1009 + 1) {
    const int32_t second = setup.seed % 2 == 0 ? 0 : setup.slots / 2;
    Add("w1", setup.slots - second);
    if (second > 0) Add("w2", second);
  }

  void ToTheEnd() {
    ExperimentSpec spec = AshaSpecOf(setup_.trials, AshaSpec::Variant::kPromotion);
    std::get<AshaSpec>(spec.scheduler).brackets = 1 + static_cast<int32_t>(setup_.seed % 3);
    DecisionReplay replay({1}, spec);
    world_.on_commit = [&](const WriteBatch& batch) { replay.Follow(batch); };
    for (SimWorker& worker : workers_) Happen(worker.Connect({++last_session_}));
    e_ = world_.Create(spec);
    Deliver();
    for (int i = 0; i < 100'000 && !IsFinal(world_.ExperimentAt(e_).state); ++i) {
      SimWorker& worker = workers_[random_() % workers_.size()];
      const std::vector<AttemptId> attempts = worker.attempts();
      if (attempts.empty()) continue;
      const AttemptId id = attempts[random_() % attempts.size()];
      const std::optional<Steps> fails_at = FailsAt(id.trial.number);
      const Steps last = world_.TrialAt(e_, id.trial.number.value).last_step.value_or(0);
      if (fails_at && last >= *fails_at) worker.End(id, ExitCause::kFailed);
      Happen(worker.NextEvent(id));
    }
    const absl::Status record = CheckTables(tables(), e_, spec);
    EXPECT_TRUE(record.ok()) << record;
  }

  /// By what its trials do, whatever the scheduler decides.
  bool OneCanComplete() const {
    for (int32_t i = 0; i < setup_.trials; ++i) {
      if (!FailsAt({i}) && !IsNan({i})) return true;
    }
    return false;
  }
  const MemoryTables& tables() const { return world_.storage.tables(); }
  const ExperimentRow& experiment() const { return world_.ExperimentAt(e_); }
  int64_t CountOf(TrialState state) const {
    return std::ranges::count_if(tables().trials,
                                 [&](const auto& entry) { return entry.second.state == state; });
  }

 private:
  void Add(const std::string& name, int32_t slots) {
    workers_.emplace_back(name, Resources{.milli_cpus = 1000 * slots, .memory_bytes = 0, .gpus = 0},
                          9, 1);
    workers_.back().curve = [this](TrialId trial, Steps step) {
      if (IsNan(trial.number)) return std::numeric_limits<double>::quiet_NaN();
      return std::floor(SimWorker::Curve(trial, step) * 20);
    };
  }
  uint64_t Draw(TrialNumber trial, uint64_t salt) const {
    return std::mt19937_64(setup_.seed * 7919 + static_cast<uint64_t>(trial.value) * 13 + salt)();
  }
  bool IsNan(TrialNumber trial) const { return Draw(trial, 1) % 10 == 0; }
  std::optional<Steps> FailsAt(TrialNumber trial) const {
    if (Draw(trial, 2) % 10 >= 3) return std::nullopt;
    return 1 + static_cast<Steps>(Draw(trial, 3) % 8);
  }

  void Happen(const Event& event) {
    world_.Do(event);
    Deliver();
  }
  void Deliver() {
    for (const Message& message : world_.messages) {
      const auto* to = std::get_if<ToWorker>(&message);
      if (to == nullptr) continue;
      for (SimWorker& worker : workers_) worker.Deliver(*to);
    }
  }

  Setup setup_;
  std::mt19937_64 random_;
  World world_;
  std::deque<SimWorker> workers_;
  ExperimentId e_;
  uint64_t last_session_ = 0;
};

class SchedulerPromotionRun : public testing::TestWithParam<int32_t> {};

TEST_P(SchedulerPromotionRun, EndsWithACompletedTrialWheneverOneCould) {
  // With sanitizers 1, 6, …, 31 slots, or the test would take half a minute.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int32_t kEvery = 5;
#else
  constexpr int32_t kEvery = 1;
#endif
  for (int32_t slots = 1; slots <= 32; slots += kEvery) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      const std::string where = fmt::format("{} slots, seed {}", slots, seed);
      WholeRun run({GetParam(), slots, seed});
      run.ToTheEnd();
      ASSERT_TRUE(IsFinal(run.experiment().state)) << where;
      ASSERT_EQ(run.CountOf(TrialState::kCompleted) > 0, run.OneCanComplete()) << where;
      ASSERT_EQ(run.experiment().reason,
                run.OneCanComplete() ? "trials_exhausted" : "no_trial_completed")
          << where;
      ASSERT_EQ(static_cast<int32_t>(run.tables().trials.size()), GetParam()) << where;
      ASSERT_THAT(StoredUnmetClaims(run.tables(), run.experiment().id), testing::IsEmpty())
          << where;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trials, SchedulerPromotionRun, testing::Values(1, 2, 3, 9, 27));

}  // namespace
}  // namespace rung
