#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What several experiments cost and brought, set against the first of them. Pure arithmetic.
namespace rung::cli {

/// One reported value. `seconds` since its experiment was created.
struct ReportedValue {
  int32_t trial_number = 0;
  int64_t step = 0;
  double seconds = 0;
  double value = 0;
};

/// A metric to compare, and which way is better.
struct ComparedMetric {
  std::string name;
  bool maximize = true;
};

/// One experiment, as the service tells it.
struct ExperimentFacts {
  int64_t id = 0;
  std::string name;
  std::string state;
  std::string metric;  ///< the objective
  bool maximize = true;
  std::string by_what;  ///< how its best is chosen, for people
  double wall_s = 0;
  std::vector<std::pair<std::string, int64_t>> trials;  ///< state and number, none at 0
  int64_t steps_spent = 0;
  double slot_hours = 0;
  bool gpu_slots = false;  ///< else CPU shares
  std::optional<double> best_value;
  std::optional<int32_t> best_trial;
  std::optional<int64_t> best_step;
  std::string best_params_json;
  std::map<std::string, std::vector<ReportedValue>> values;  ///< by metric, not superseded
};

/// What one experiment made of one metric. Non-finite values are passed over.
struct MetricOutcome {
  std::optional<double> best;            ///< best value in any report
  std::optional<double> winner_last;     ///< of the winning trial, at its last step that has it
  std::optional<double> best_reached_s;  ///< until a report first was as good as the own best
  std::optional<double> reached_s;  ///< until a report first was as good as the first one's best
};

struct ComparisonColumn {
  std::vector<MetricOutcome> metrics;          ///< in the order of Comparison::metrics
  int64_t steps_saved = 0;                     ///< against the first experiment
  std::optional<double> steps_saved_fraction;  ///< nullopt when the first spent none
  std::optional<double> speed_up;              ///< wall time of the first over this one's
  std::optional<double> money;                 ///< slot-hours × price
  std::optional<double> money_saved;
};

struct Comparison {
  std::vector<ExperimentFacts> experiments;  ///< at least one
  std::vector<ComparedMetric> metrics;       ///< the first one's objective, then the shown ones
  std::optional<double> price;               ///< of one slot-hour
  std::vector<ComparisonColumn> columns;     ///< one an experiment
};

/// `shown` without the objective of the first experiment, which always comes first.
Comparison Compare(std::vector<ExperimentFacts> experiments,
                   const std::vector<ComparedMetric>& shown, std::optional<double> price);

}  // namespace rung::cli
