#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/paired_bootstrap.h"
#include "bench/quality_experiment.h"
#include "bench/quality_rules.h"
#include "bench/ray_quality.h"

/// Compares the stopping rules on recorded learning curves, and checks that the default one gives
/// Ray Tune's results exactly (exit 1 and what differs, if not). The output is the same on every
/// machine.
namespace rung {
namespace {

/// Means of two rules on the same seeds, and how sure their difference is.
struct Comparison {
  double difference = 0;  ///< in millionths of the metric; below 0: the first is better
  Interval interval;      ///< 95 %

  /// −1: the first is better, 1: it is worse, 0: the seeds do not say.
  int Sign() const { return interval.high < 0 ? -1 : interval.low > 0 ? 1 : 0; }
};

using Regret = std::function<int64_t(const SeedQuality&)>;
int64_t OwnRegret(const SeedQuality& seed) { return seed.regret_micro; }
int64_t RandomRegret(const SeedQuality& seed) { return seed.random_regret_micro; }

Comparison Compare(const std::vector<SeedQuality>& a, const std::vector<SeedQuality>& b,
                   const Regret& regret_of_b) {
  std::vector<double> differences;
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differences.push_back(static_cast<double>(OwnRegret(a[i]) - regret_of_b(b[i])));
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
    const Comparison to_quantile = Compare(seeds, quantile, OwnRegret);
    const Comparison to_random = Compare(seeds, seeds, RandomRegret);
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

int CheckAgainstRay(const QualityData& data, const RayQuality& ray) {
  int differences = 0;
  size_t runs = 0;
  for (const QualitySetting& setting : QualitySettings()) {
    const auto seeds = data.RunAll(setting, MakerOf(kQuantile, setting));
    runs += seeds.size();
    for (const std::string& difference : ray.Differences(setting, seeds)) {
      fmt::print(stderr, "decision_quality: {}\n", difference);
      ++differences;
    }
  }
  fmt::print("{}: {} of {} runs and tables differ from Ray Tune 2.60\n", kQuantile, differences,
             runs);
  return differences;
}

int Main() {
  const std::string folder = std::string(RUNG_SOURCE_DIR) + "/bench/data";
  const absl::StatusOr<QualityData> data = QualityData::Read(folder);
  const absl::StatusOr<RayQuality> ray = RayQuality::Read(folder);
  for (const absl::Status& status : {data.status(), ray.status()}) {
    if (status.ok()) continue;
    fmt::print(stderr, "decision_quality: {}\n", std::string(status.message()));
    return 1;
  }
  if (CheckAgainstRay(*data, *ray) > 0) return 1;

  Report report(*data);
  for (const QualitySetting& setting : QualitySettings()) report.Add(setting);
  report.PrintTallies();
  return 0;
}

}  // namespace
}  // namespace rung

int main() { return rung::Main(); }
