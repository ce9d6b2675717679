#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/learning_curves.h"
#include "search/stopping_rule.h"

/// How well a stopping rule finds the best configuration, and what it costs: the same experiments
/// for every rule, on the virtual clock.
namespace rung {

/// What is searched, how far, and by how many.
struct QualitySetting {
  std::string benchmark;  ///< lm or mfh3
  Steps max_t = 0;        ///< R
  Steps grace_period = 0;
  int32_t trials = 0;   ///< N
  int32_t workers = 0;  ///< W
};

/// lm 100/10, lm 81/1 and mfh3 100/10, each with N = 27 and 256 and W = 1, 4, 25 and 500.
std::vector<QualitySetting> QualitySettings();

/// Regret is the noise-free value at R of the selected trial less the least one among the N
/// configurations: 0 is perfect.
struct SeedQuality {
  int64_t steps = 0;
  int64_t makespan_ms = 0;
  int32_t completed = 0;
  int64_t selected_micro = 0;  ///< noise-free value at R, in millionths
  int64_t regret_micro = 0;
  /// Against the best of all configurations of the order, whatever N is.
  int64_t regret_of_all_micro = 0;
  /// Of random search at equal budget: the first ⌊steps / R⌋ configurations, at least one, run to
  /// R, and the one with the lowest value reported there selected.
  int64_t random_regret_micro = 0;
};

using RuleMaker = std::function<std::unique_ptr<StoppingRule>(int64_t seed)>;

class QualityData {
 public:
  /// Reads the tables of a folder. Errors: those of reading and parsing.
  static absl::StatusOr<QualityData> Read(const std::string& folder);

  size_t seeds() const { return orders_.size(); }
  /// One experiment: order number `seed` under a fresh rule.
  SeedQuality Run(const QualitySetting& setting, const RuleMaker& rule, size_t seed) const;
  std::vector<SeedQuality> RunAll(const QualitySetting& setting, const RuleMaker& rule) const;

 private:
  std::map<std::string, std::vector<LearningCurve>> curves_;  ///< by benchmark
  std::vector<std::vector<size_t>> orders_;
};

/// Over the seeds, as data/ray_quality.json and the tables give it.
struct QualitySummary {
  double mean_regret = 0;  ///< rounded to millionths
  double median_steps = 0;
  double median_makespan_ms = 0;
  double median_completed = 0;
};
QualitySummary Summarize(const std::vector<SeedQuality>& seeds);

/// "mean regret / steps / makespan s", with as many digits as the published table.
std::string Cell(const QualitySetting& setting, const QualitySummary& summary);

}  // namespace rung
