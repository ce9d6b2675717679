#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/counter_random.h"
#include "search/rung_table.h"
#include "search/stopping_rule.h"

/// What one decision costs in a rung that holds many values already, and what an entry of a rung
/// takes in memory. Pure code: no service, no disk.
namespace rung {
namespace {

constexpr Steps kLevel = 10;
constexpr int kRounds = 20;
constexpr int kDecisions = 200;  ///< of each round, timed one by one

using Nanoseconds = std::chrono::duration<double, std::nano>;

struct Cost {
  Nanoseconds median;
  Nanoseconds p99;
  Nanoseconds mean;
};

Cost CostOf(std::vector<Nanoseconds> times) {
  std::ranges::sort(times);
  Nanoseconds sum{0};
  for (const Nanoseconds time : times) sum += time;
  return {.median = times[times.size() / 2],
          .p99 = times[times.size() * 99 / 100],
          .mean = sum / static_cast<double>(times.size())};
}

std::unique_ptr<StoppingRule> Make(const AshaSpec& spec) {
  absl::StatusOr<std::unique_ptr<StoppingRule>> rule =
      MakeStoppingRule(spec, Goal::kMaximize, /*seed=*/0);
  RUNG_CHECK(rule.ok());
  return *std::move(rule);
}

/// All that the scheduler asks of the rule when a trial reaches the level.
void Decide(StoppingRule& rule, TrialNumber trial, double value) {
  const Verdict verdict = rule.OnReport({trial, kLevel, value});
  RUNG_CHECK(verdict.records.size() == 1);
}

/// Times decisions in rungs that hold `held` values before the first of them.
Cost Measure(const AshaSpec& spec, int32_t held) {
  std::vector<Nanoseconds> times;
  for (int round = 0; round < kRounds; ++round) {
    CounterRandom random({.seed = round, .trial = {0}, .redraw = 0, .name = "bench.decision_cost"});
    const std::unique_ptr<StoppingRule> rule = Make(spec);
    for (int32_t trial = 0; trial < held + kDecisions; ++trial) {
      const double value = random.NextUnit();
      const auto start = std::chrono::steady_clock::now();
      Decide(*rule, {trial}, value);
      const auto end = std::chrono::steady_clock::now();
      if (trial >= held) times.emplace_back(end - start);
    }
  }
  return CostOf(std::move(times));
}

/// Heap bytes of one entry, the allocator's own included.
double BytesOfAnEntry(int32_t entries) {
  CounterRandom random({.seed = 0, .trial = {0}, .redraw = 0, .name = "bench.decision_cost"});
  RungTable table;
  const size_t before = mallinfo2().uordblks;
  for (int32_t trial = 0; trial < entries; ++trial) table.Insert(random.NextUnit(), {trial});
  return static_cast<double>(mallinfo2().uordblks - before) / entries;
}

int Main() {
  const AshaSpec quantile{.max_t = 100, .grace_period = kLevel, .reduction_factor = 3};
  AshaSpec top = quantile;
  top.cut = AshaSpec::Cut::kTop;

  fmt::print("one decision, µs                   p50     p99    mean\n");
  for (const auto& [name, spec] :
       {std::pair(std::string("stopping, quantile"), quantile), {"stopping, top", top}}) {
    for (const int32_t held : {100, 1'000, 10'000}) {
      const Cost cost = Measure(spec, held);
      fmt::print("{:<20} {:>6} values  {:>6.2f}  {:>6.2f}  {:>6.2f}\n", name, held,
                 cost.median.count() / 1e3, cost.p99.count() / 1e3, cost.mean.count() / 1e3);
    }
  }
  fmt::print("\none entry of a rung: {:.1f} bytes of heap (10,000 entries)\n",
             BytesOfAnEntry(10'000));
  return 0;
}

}  // namespace
}  // namespace rung

int main() { return rung::Main(); }
