#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/scheduler/scheduler_world.h"
#include "tests/scheduler/sim_worker.h"

/// A scheduler and workers of one trial each that follow curves, until an experiment has ended.
namespace rung {

class SimCluster {
 public:
  /// Trials end by themselves at `last_step` and leave a checkpoint after every second step.
  SimCluster(int workers, Steps last_step) {
    const Resources one{.milli_cpus = 1000, .memory_bytes = 1, .gpus = 0};
    for (int i = 0; i < workers; ++i) {
      workers_.emplace_back("w" + std::to_string(i), one, last_step, /*checkpoint_every=*/2);
    }
  }

  /// The scheduler dies and comes back; the workers find it again.
  void Restart() {
    for (SimWorker& worker : workers_) worker.Disconnect();
    world.Restart();
    Connect();
  }

  /// Lets workers drawn by `seed` act in turn; `before(i)` comes before action i.
  template <typename Before>
  void Run(ExperimentId experiment, uint64_t seed, Before before) {
    std::mt19937_64 random(seed);
    Connect();
    for (int i = 0; i < 200'000 && !IsFinal(world.ExperimentAt(experiment).state); ++i) {
      before(i);
      Act(workers_[random() % workers_.size()]);
    }
    ASSERT_TRUE(IsFinal(world.ExperimentAt(experiment).state)) << world.Describe();
  }

  void Happen(const Event& event) {
    world.Do(event);
    for (const Message& message : world.messages) {
      const auto* to = std::get_if<ToWorker>(&message);
      if (to == nullptr) continue;
      for (SimWorker& worker : workers_) worker.Deliver(*to);
    }
  }

  void Act(SimWorker& worker) {
    const std::vector<AttemptId> attempts = worker.attempts();
    if (attempts.empty()) {
      Happen(WorkerHeartbeat{worker.session()});
    } else {
      Happen(worker.NextEvent(attempts.front()));
    }
  }

  std::vector<SimWorker>& workers() { return workers_; }

  World world;

 private:
  void Connect() {
    for (SimWorker& worker : workers_) {
      if (!worker.connected()) Happen(worker.Connect({++last_session_}));
    }
  }

  std::vector<SimWorker> workers_;
  uint64_t last_session_ = 0;
};

}  // namespace rung
