#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "bench/budget_plan.h"
#include "bench/paired_bootstrap.h"
#include "bench/peer_quality.h"
#include "bench/quality_experiment.h"
#include "bench/quality_rules.h"

/// Compares the stopping rules on recorded learning curves, and checks that `quantile` gives Ray
/// Tune's results and `top` Optuna's exactly (exit 1 and what differs, if not). The output is the
/// same on every machine.
namespace rung {
namespace {

/// Means of two rules on the same seeds, and how sure their difference is.
struct Comparison {
  double difference = 0;  ///< in millionths of the metric; below 0: the first is better
  Interval interval;      ///< 95 %

  /// −1: the first is better, 1: it is worse, 0: the seeds do not say.
  int Sign() const { return interval.high < 0 ? -1 : interval.low > 0 ? 1 : 0; }
};

using Regret = int64_t SeedQuality::*;

Comparison Compare(const std::vector<SeedQuality>& a, Regret regret_of_a,
                   const std::vector<SeedQuality>& b, Regret regret_of_b) {
  std::vector<double> differences;
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differences.push_back(static_cast<double>(a[i].*regret_of_a - b[i].*regret_of_b));
    sum += differences.back();
  }
  return {.difference = sum / static_cast<double>(a.size()),
          .interval = PairedBootstrap(differences)};
}

std::string TextOf(const Comparison& comparison) {
  return fmt::format("{:+.4f} [{:+.4f}, {:+.4f}]", comparison.difference / 1e6,
                     comparison.interval.low / 1e6, comparison.interval.high / 1e6);
}

/// What the settings say of one rule together.
struct Tally {
  std::vector<double> log_steps_ratio;  ///< to the quantile rule
  std::vector<double> log_makespan_ratio;
  int better_than_quantile = 0;
  int worse_than_quantile = 0;
  int better_than_random = 0;
  int worse_than_random = 0;

  void Add(const Comparison& quantile, const Comparison& random) {
    better_than_quantile += quantile.Sign() < 0;
    worse_than_quantile += quantile.Sign() > 0;
    better_than_random += random.Sign() < 0;
    worse_than_random += random.Sign() > 0;
  }
};

double GeometricMean(const std::vector<double>& logarithms) {
  double sum = 0;
  for (const double logarithm : logarithms) sum += logarithm;
  return std::exp(sum / static_cast<double>(logarithms.size()));
}

class Report {
 public:
  explicit Report(const QualityData& data) : data_(data) {}

  void Add(const QualitySetting& setting) {
    fmt::print("\n{}\n{:<30} {:>7} {:>10} {:>6}  {:>6}  {:<26}  {:<26}\n", TitleOf(setting), "rule",
               "steps", "makespan s", "done", "regret", "less quantile's [95 %]",
               "less random's, equal budget");
    const auto quantile = data_.RunAll(setting, MakerOf(kQuantile, setting));
    for (const std::string& name : QualityRules()) {
      const auto seeds =
          name == kQuantile ? quantile : data_.RunAll(setting, MakerOf(name, setting));
      AddRow(name, seeds, quantile);
    }
  }

  void PrintTallies() const {
    fmt::print("\nall settings\n{:<30} {:>12} {:>15}  {:<22}  {:<22}\n", "rule", "steps ratio",
               "makespan ratio", "better, worse than", "better, worse than");
    fmt::print("{:<30} {:>12} {:>15}  {:<22}  {:<22}\n", "", "to quantile", "to quantile",
               "quantile", "random at equal budget");
    for (const std::string& name : QualityRules()) {
      const Tally& tally = tallies_.at(name);
      fmt::print("{:<30} {:>12.2f} {:>15.2f}  {:<22}  {:<22}\n", name,
                 GeometricMean(tally.log_steps_ratio), GeometricMean(tally.log_makespan_ratio),
                 fmt::format("{}, {}", tally.better_than_quantile, tally.worse_than_quantile),
                 fmt::format("{}, {}", tally.better_than_random, tally.worse_than_random));
    }
  }

 private:
  void AddRow(const std::string& name, const std::vector<SeedQuality>& seeds,
              const std::vector<SeedQuality>& quantile) {
    const QualitySummary summary = Summarize(seeds);
    const QualitySummary base = Summarize(quantile);
    const Comparison to_quantile =
        Compare(seeds, &SeedQuality::regret_micro, quantile, &SeedQuality::regret_micro);
    const Comparison to_random =
        Compare(seeds, &SeedQuality::regret_micro, seeds, &SeedQuality::random_regret_micro);
    fmt::print("{:<30} {:>7.0f} {:>10.0f} {:>6.0f}  {:.4f}  {:<26}  {:<26}\n", name,
               summary.median_steps, summary.median_makespan_ms / 1000, summary.median_completed,
               summary.mean_regret, name == kQuantile ? "" : TextOf(to_quantile),
               TextOf(to_random));
    Tally& tally = tallies_[name];
    tally.Add(to_quantile, to_random);
    tally.log_steps_ratio.push_back(std::log(summary.median_steps / base.median_steps));
    tally.log_makespan_ratio.push_back(
        std::log(summary.median_makespan_ms / base.median_makespan_ms));
  }

  const QualityData& data_;
  std::map<std::string, Tally> tallies_;
};

void PrintBudget(const QualityData& data, const Budget& budget,
                 const std::vector<Steps>& grace_periods) {
  fmt::print("\n{}, R = {}, {} steps ({} full trials)\n{:>5} {:>5} {:>7} {:>7}  {:<26}\n",
             budget.benchmark, budget.max_t, budget.steps, budget.steps / budget.max_t, "r", "N",
             "steps", "regret", "less random's [95 %]");
  constexpr Regret kRegret = &SeedQuality::regret_of_all_micro;
  const BudgetPlan random = SpendBudget(data, budget, budget.max_t);
  std::vector<BudgetPlan> plans;
  for (const Steps grace_period : grace_periods) {
    plans.push_back(SpendBudget(data, budget, grace_period));
  }
  plans.push_back(random);
  for (const BudgetPlan& plan : plans) {
    const auto seeds = static_cast<double>(plan.seeds.size());
    double regret = 0;
    for (const SeedQuality& seed : plan.seeds) regret += static_cast<double>(seed.*kRegret);
    const bool is_random = plan.grace_period == budget.max_t;
    fmt::print(
        "{:>5} {:>5} {:>7.0f} {:>7.4f}  {:<26}\n", plan.grace_period, plan.trials,
        static_cast<double>(plan.total_steps) / seeds, regret / seeds / 1e6,
        is_random ? "random search" : TextOf(Compare(plan.seeds, kRegret, random.seeds, kRegret)));
  }
}

void PrintBudgets(const QualityData& data) {
  fmt::print(
      "\nthe same steps for many configurations judged early or for fewer judged late\n"
      "({}, W 4; regret against the best of 256)\n",
      kQuantile);
  for (const int64_t full_trials : {8, 16, 32}) {
    PrintBudget(data, {"lm", 81, 81 * full_trials}, {1, 3, 9, 27});
    PrintBudget(data, {"lm", 100, 100 * full_trials}, {1, 3, 10, 30});
    PrintBudget(data, {"mfh3", 100, 100 * full_trials}, {1, 3, 10, 30});
  }
}

/// Whether `rule` gives what the peer in `path` did.
bool CheckAgainst(const std::string& path, const std::string& rule, const QualityData& data) {
  const absl::StatusOr<PeerQuality> peer = PeerQuality::Read(path);
  if (!peer.ok()) {
    fmt::print(stderr, "decision_quality: {}\n", std::string(peer.status().message()));
    return false;
  }
  size_t differences = 0;
  for (const QualitySetting& setting : QualitySettings()) {
    if (!peer->IsRecorded(setting)) continue;
    const auto seeds = data.RunAll(setting, MakerOf(rule, setting));
    for (const std::string& difference : peer->Differences(setting, seeds)) {
      fmt::print(stderr, "decision_quality: {}\n", difference);
      ++differences;
    }
  }
  fmt::print("{} against {}: {} settings of {} seeds, {} differences\n", rule, peer->peer(),
             peer->settings(), data.seeds(), differences);
  return differences == 0;
}

int Main() {
  const std::string folder = std::string(RUNG_SOURCE_DIR) + "/bench/data";
  const absl::StatusOr<QualityData> data = QualityData::Read(folder);
  if (!data.ok()) {
    fmt::print(stderr, "decision_quality: {}\n", std::string(data.status().message()));
    return 1;
  }
  const bool as_ray = CheckAgainst(folder + "/ray_quality.json", kQuantile, *data);
  const bool as_optuna = CheckAgainst(folder + "/optuna_quality.json", kTop, *data);
  if (!as_ray || !as_optuna) return 1;

  Report report(*data);
  for (const QualitySetting& setting : QualitySettings()) report.Add(setting);
  report.PrintTallies();
  PrintBudgets(*data);
  return 0;
}

}  // namespace
}  // namespace rung

int main() { return rung::Main(); }
