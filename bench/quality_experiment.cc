#include "bench/quality_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/virtual_tuner.h"
#include "core/check.h"

namespace rung {
namespace {

template <typename Number>
double Median(const std::vector<SeedQuality>& seeds, Number SeedQuality::*member) {
  std::vector<Number> values;
  for (const SeedQuality& seed : seeds) values.push_back(seed.*member);
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return static_cast<double>(values[middle]);
  return (static_cast<double>(values[middle - 1]) + static_cast<double>(values[middle])) / 2;
}

/// One seed's configurations as one experiment sees them.
struct Offer {
  std::span<const LearningCurve> curves;
  std::span<const size_t> order;  ///< of N configurations
  Steps max_t;

  const LearningCurve& At(size_t trial) const { return curves[order[trial]]; }
  int64_t TrueMicro(size_t trial) const { return At(trial).true_micro.at(max_t); }
  int64_t BestMicro() const {
    int64_t best = std::numeric_limits<int64_t>::max();
    for (size_t i = 0; i < order.size(); ++i) best = std::min(best, TrueMicro(i));
    return best;
  }
  /// Which of the first `count` trials reports the lowest value at R.
  size_t BestOfFirst(size_t count) const {
    const auto last = static_cast<size_t>(max_t - 1);
    size_t best = 0;
    for (size_t i = 1; i < count; ++i) {
      if (At(i).values[last] < At(best).values[last]) best = i;
    }
    return best;
  }
};

}  // namespace

std::vector<QualitySetting> QualitySettings() {
  std::vector<QualitySetting> settings;
  for (const QualitySetting& task :
       {QualitySetting{.benchmark = "lm", .max_t = 100, .grace_period = 10},
        QualitySetting{.benchmark = "lm", .max_t = 81, .grace_period = 1},
        QualitySetting{.benchmark = "mfh3", .max_t = 100, .grace_period = 10}}) {
    for (const int32_t trials : {27, 256}) {
      for (const int32_t workers : {1, 4, 25, 500}) {
        settings.push_back(task);
        settings.back().trials = trials;
        settings.back().workers = workers;
      }
    }
  }
  return settings;
}

absl::StatusOr<QualityData> QualityData::Read(const std::string& folder) {
  QualityData data;
  for (const std::string benchmark : {"lm", "mfh3"}) {
    auto curves = ReadLearningCurves(fmt::format("{}/curves_{}.json", folder, benchmark));
    if (!curves.ok()) return curves.status();
    data.curves_[benchmark] = *std::move(curves);
  }
  auto orders = ReadOrders(folder + "/orders.json");
  if (!orders.ok()) return orders.status();
  data.orders_ = *std::move(orders);
  return data;
}

SeedQuality QualityData::Run(const QualitySetting& setting, const RuleMaker& rule,
                             size_t seed) const {
  const auto trials = static_cast<size_t>(setting.trials);
  const Offer all{
      .curves = curves_.at(setting.benchmark), .order = orders_.at(seed), .max_t = setting.max_t};
  const Offer offer{.curves = all.curves, .order = all.order.first(trials), .max_t = all.max_t};
  const std::unique_ptr<StoppingRule> fresh = rule(static_cast<int64_t>(seed));
  VirtualTuner tuner(offer.curves, offer.order,
                     {.trials = setting.trials, .workers = setting.workers, .max_t = setting.max_t},
                     *fresh);
  const TunerResult result = tuner.Run();

  const int64_t best = offer.BestMicro();
  const int64_t selected = offer.TrueMicro(static_cast<size_t>(result.selected.value));
  const auto affordable = static_cast<size_t>(std::max<int64_t>(1, result.steps / setting.max_t));
  const size_t of_random = offer.BestOfFirst(std::min(affordable, trials));
  return {.steps = result.steps,
          .makespan_ms = result.makespan_ms,
          .completed = result.completed,
          .selected_micro = selected,
          .regret_micro = selected - best,
          .regret_of_all_micro = selected - all.BestMicro(),
          .random_regret_micro = offer.TrueMicro(of_random) - best};
}

std::vector<SeedQuality> QualityData::RunAll(const QualitySetting& setting,
                                             const RuleMaker& rule) const {
  std::vector<SeedQuality> all;
  for (size_t seed = 0; seed < seeds(); ++seed) all.push_back(Run(setting, rule, seed));
  return all;
}

QualitySummary Summarize(const std::vector<SeedQuality>& seeds) {
  RUNG_CHECK(!seeds.empty());
  int64_t sum = 0;
  for (const SeedQuality& seed : seeds) sum += seed.regret_micro;
  return {.mean_regret =
              std::nearbyint(static_cast<double>(sum) / static_cast<double>(seeds.size())) / 1e6,
          .median_steps = Median(seeds, &SeedQuality::steps),
          .median_makespan_ms = Median(seeds, &SeedQuality::makespan_ms),
          .median_completed = Median(seeds, &SeedQuality::completed)};
}

std::string Cell(const QualitySetting& setting, const QualitySummary& summary) {
  return fmt::format("{:.{}f} / {:.0f} / {:.0f}", summary.mean_regret,
                     setting.benchmark == "lm" ? 4 : 3, summary.median_steps,
                     summary.median_makespan_ms / 1000);
}

}  // namespace rung
