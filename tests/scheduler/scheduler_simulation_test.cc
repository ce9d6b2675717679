#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/scheduler/decision_replay.h"
#include "tests/scheduler/scheduler_world.h"
#include "tests/scheduler/sim_worker.h"
#include "tests/scheduler/stored_claims.h"

/// Random faults against three experiments and four workers, with what must always hold checked
/// after every step; then everything is healed and all experiments must end.
namespace rung {
namespace {

constexpr Resources kSmall{.milli_cpus = 2000, .memory_bytes = 4, .gpus = 0};
constexpr Resources kLarge{.milli_cpus = 3000, .memory_bytes = 8, .gpus = 2};

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : random_(seed) {
    workers_.emplace_back("w0", kSmall, 9, 2);
    workers_.emplace_back("w1", kSmall, 9, 3);
    workers_.emplace_back("w2", kLarge, 9, 2);
    workers_.emplace_back("w3", kLarge, 9, 0);
    world_.on_commit = [this](const WriteBatch& batch) {
      if (stopping_) stopping_->Follow(batch);
      if (promotion_) promotion_->Follow(batch);
    };
  }

  /// fifo over gangs of two with a mean, and asha with GPUs, stopping and promoting: 40, 60 and 60
  /// trials.
  void Submit() {
    ExperimentSpec fifo = FifoSpecOf(40);
    fifo.trial->processes = 2;
    fifo.trial->reduce = Reduce::kMean;
    fifo.trial->max_failures = 1;
    fifo.trial->max_losses = 1000;
    fifo.limits.max_concurrent = 3;
    experiments_.push_back(world_.Create(fifo));
    Deliver();
    ExperimentSpec asha = FifoSpecOf(60);
    AshaSpec rule;
    rule.max_t = 9;
    rule.grace_period = 1;
    rule.reduction_factor = 3;
    asha.scheduler = rule;
    asha.trial->per_process = {.milli_cpus = 500, .memory_bytes = 1, .gpus = 1};
    asha.trial->resumable = true;
    asha.trial->max_losses = 1000;
    stopping_.emplace(ExperimentId{2}, asha);
    stopping_spec_ = asha;
    experiments_.push_back(world_.Create(asha));
    Deliver();
    rule.variant = AshaSpec::Variant::kPromotion;
    rule.brackets = 2;
    asha.scheduler = rule;
    asha.seed = 8;
    promotion_.emplace(ExperimentId{3}, asha);
    experiments_.push_back(world_.Create(asha));
    Deliver();
  }

  void RunWithFaults(int steps) {
    for (int i = 0; i < steps; ++i) {
      const uint64_t dice = Below(1000);
      SimWorker& worker = workers_[Below(workers_.size())];
      if (dice < 15) {
        Restart();
      } else if (dice < 25) {
        worker.Crash();
        drop_messages_ = Below(2) == 0;  // a crash may come before the messages of a step
      } else if (dice < 40) {
        Disconnect(worker);
      } else if (dice < 50) {
        world_.Advance(std::chrono::seconds(20));
        Deliver();
      } else if (dice < 60 && !worker.attempts().empty()) {
        worker.End(worker.attempts()[Below(worker.attempts().size())], AnyCause());
      } else if (dice < 63) {
        StopSomeTrial();
      } else {
        Act(worker);
      }
      if (i % 20 == 0) CheckRestore();
    }
  }

  /// Without further faults everything ends.
  void Heal() {
    for (int round = 0; round < 5000 && !AllEnded(); ++round) {
      for (SimWorker& worker : workers_) Act(worker);
      world_.Advance(std::chrono::milliseconds(200));
      Deliver();
    }
    for (const ExperimentId e : experiments_) {
      EXPECT_TRUE(IsFinal(world_.ExperimentAt(e).state)) << world_.Describe();
    }
  }

  /// That the stored reports alone, all but without an order, give the rows again.
  absl::Status CheckStopping() const {
    return CheckTables(world_.storage.tables(), {2}, stopping_spec_);
  }

  const World& world() const { return world_; }
  ExperimentId experiment(size_t i) const { return experiments_[i]; }
  std::vector<std::string> Errors() const {
    std::vector<std::string> errors;
    for (const SimWorker& worker : workers_) {
      errors.insert(errors.end(), worker.errors.begin(), worker.errors.end());
    }
    return errors;
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  ExitCause AnyCause() {
    constexpr std::array causes{ExitCause::kFailed, ExitCause::kCompleted,
                                ExitCause::kCouldNotStart, ExitCause::kLost};
    return causes[Below(causes.size())];
  }

  void Act(SimWorker& worker) {
    if (!worker.connected()) {
      Happen(worker.Connect({++last_session_}));
      return;
    }
    const std::vector<AttemptId> attempts = worker.attempts();
    if (attempts.empty()) {
      Happen(WorkerHeartbeat{worker.session()});
    } else {
      Happen(worker.NextEvent(attempts[Below(attempts.size())]));
    }
  }

  void StopSomeTrial() {
    const ExperimentId e = experiments_[Below(experiments_.size())];
    StopTrial stop;
    stop.reply = world_.NextToken();
    stop.trial = {e, {static_cast<int32_t>(Below(40))}};
    Happen(stop);
  }

  void Disconnect(SimWorker& worker) {
    if (!worker.connected()) return;
    const SessionId session = worker.session();
    worker.Disconnect();
    if (Below(3) > 0) Happen(WorkerDisconnected{session});  // else only silence tells
  }

  void Restart() {
    for (SimWorker& worker : workers_) worker.Disconnect();
    world_.Restart();
  }

  void Happen(const Event& event) {
    world_.Do(event);
    if (drop_messages_) {
      drop_messages_ = false;
      Restart();
    } else {
      Deliver();
    }
    CheckInvariants();
  }

  void Deliver() {
    for (const Message& message : world_.messages) {
      const auto* to = std::get_if<ToWorker>(&message);
      if (to == nullptr) continue;
      for (SimWorker& worker : workers_) worker.Deliver(*to);
    }
  }

  bool AllEnded() const {
    return std::ranges::all_of(
        experiments_, [&](ExperimentId e) { return IsFinal(world_.ExperimentAt(e).state); });
  }

  void CheckInvariants() {
    const MemoryTables& tables = world_.storage.tables();
    std::map<std::string, Resources> held;
    std::set<TrialId> live;
    for (const auto& [id, attempt] : tables.attempts) {
      if (IsFinal(attempt.state)) continue;
      ASSERT_TRUE(live.insert(id.trial).second) << ToString(id) << ": two live attempts";
      const bool first = id.trial.experiment == experiments_[0];
      Resources& sum = held[attempt.workers];
      sum.gpus += attempt.gpus;
      sum.milli_cpus += attempt.milli_cpus;
      sum.memory_bytes += first ? 0 : 1;
    }
    for (const auto& [name, sum] : held) {
      const WorkerRow& row = tables.workers.at(name);
      ASSERT_LE(sum.gpus, row.gpus) << name;
      ASSERT_LE(sum.milli_cpus, row.milli_cpus) << name;
      ASSERT_LE(sum.memory_bytes, row.memory_bytes) << name;
    }
    for (const auto& [id, trial] : tables.trials) {
      if (IsFinal(trial.state)) {
        const auto [it, fresh] = final_.emplace(id, trial.state);
        ASSERT_EQ(it->second, trial.state) << ToString(id) << ": a final state changed";
      }
      // A paused or promoted trial may still have the attempt that is ending; a running one has
      // one.
      if (trial.state == TrialState::kRunning) {
        ASSERT_TRUE(live.contains(id)) << ToString(id);
      } else if (!IsFinal(trial.state) && live.contains(id)) {
        ASSERT_EQ(AttemptOf(id).state, AttemptState::kStopping) << ToString(id);
      }
    }
  }

  const AttemptRow& AttemptOf(TrialId trial) const {
    const auto behind = world_.storage.tables().attempts.upper_bound({trial, INT32_MAX});
    return std::prev(behind)->second;
  }

  void CheckRestore() {
    World copy = world_.CopyRestored();
    ASSERT_EQ(copy.Describe(), world_.Describe());
  }

  std::mt19937_64 random_;
  World world_;
  std::vector<SimWorker> workers_;
  std::vector<ExperimentId> experiments_;
  std::optional<DecisionReplay> stopping_;
  ExperimentSpec stopping_spec_;
  std::optional<DecisionReplay> promotion_;
  std::map<TrialId, TrialState> final_;
  uint64_t last_session_ = 0;
  bool drop_messages_ = false;
};

class SchedulerSimulation : public testing::TestWithParam<uint64_t> {};

TEST_P(SchedulerSimulation, KeepsItsInvariantsThroughFaultsAndEnds) {
  Simulation simulation(GetParam());
  simulation.Submit();
  simulation.RunWithFaults(4000);
  simulation.Heal();
  EXPECT_THAT(simulation.Errors(), testing::IsEmpty());
  EXPECT_TRUE(simulation.CheckStopping().ok()) << simulation.CheckStopping();
  std::map<ExperimentId, int> created;
  for (const auto& [id, trial] : simulation.world().storage.tables().trials) {
    ++created[id.experiment];
    EXPECT_TRUE(IsFinal(trial.state)) << ToString(id);
  }
  // Exactly as many as asked for, whatever was lost (cases.md 13).
  EXPECT_EQ(created[simulation.experiment(0)], 40);
  EXPECT_EQ(created[simulation.experiment(1)], 60);
  EXPECT_EQ(created[simulation.experiment(2)], 60);
  EXPECT_THAT(StoredUnmetClaims(simulation.world().storage.tables(), simulation.experiment(2)),
              testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SchedulerSimulation, testing::Range<uint64_t>(1, 13));

TEST(SchedulerSimulationSeed, TheSameSeedGivesTheSameState) {
  const auto run = [] {
    Simulation simulation(4711);
    simulation.Submit();
    simulation.RunWithFaults(1000);
    return simulation.world().Describe();
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace rung
