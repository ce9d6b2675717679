#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/experiment.h"
#include "core/metric.h"
#include "core/resources.h"
#include "search/searcher.h"
#include "search/space.h"
#include "search/stopping_rule.h"

/// The experiment document (INTERFACES.md §2) as data, read and checked by spec_json.cc alone.
namespace rung {

struct TrialTemplate {
  std::vector<std::string> command;  ///< `{name}` not yet replaced
  std::string working_dir;           ///< absolute
  std::vector<std::pair<std::string, std::string>> env;
  int32_t processes = 1;  ///< the gang's size
  Resources per_process{.milli_cpus = 1000};
  Reduce reduce = Reduce::kRank0;
  bool resumable = false;
  std::string checkpoint_root;  ///< shared by all workers; empty: each worker's own
  std::chrono::milliseconds grace{30'000};
  std::chrono::milliseconds failure_grace{2'000};
  std::chrono::milliseconds finish_grace{600'000};
  int32_t max_failures = 0;
  int32_t max_losses = 10;
};

struct Limits {
  std::optional<int32_t> max_concurrent;
  std::optional<std::chrono::milliseconds> deadline;  ///< from creation
  std::optional<double> gpu_hours;
  std::optional<int32_t> max_failed_trials;  ///< the experiment is paused at this number
  int64_t metrics_per_trial = 100'000;       ///< rows; more is RESOURCE_EXHAUSTED
};

struct ExperimentSpec {
  std::string name;
  std::string metric;
  Goal goal = Goal::kMinimize;
  BestBy best_by = BestBy::kBest;
  int64_t seed = 0;
  SpaceSpec space;
  SearcherSpec searcher;
  StoppingRuleSpec scheduler;
  std::optional<TrialTemplate> trial;  ///< absent: ask/tell only
  Limits limits;
  int32_t priority = 0;
  std::string owner;  ///< empty: the caller's login name
};

}  // namespace rung
