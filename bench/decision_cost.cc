#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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
  Nanoseconds mean_cpu;  ///< CPU time, which other programs do not add to
};

Nanoseconds CpuTime() {
  timespec time;
  RUNG_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::unique_ptr<StoppingRule> Make(const AshaSpec& spec) {
  absl::StatusOr<std::unique_ptr<StoppingRule>> rule =
      MakeStoppingRule(spec, Goal::kMaximize, /*seed=*/0);
  RUNG_CHECK(rule.ok());
  return *std::move(rule);
}

/// All that the scheduler asks of the rule when a trial reaches the level: with promotion also who
/// gets what the trial would free.
void Decide(StoppingRule& rule, TrialNumber trial, double value) {
  Verdict verdict = rule.OnReport({trial, kLevel, value});
  if (verdict.decision == Decision::kPause) {
    const auto promoted = rule.NextPromotion(std::nullopt);
    if (promoted == trial) {
      rule.PromoteOnArrival(Grant::kEarned, verdict);
    } else if (promoted) {
      rule.Promote(*promoted, Grant::kEarned);
    }
  }
  RUNG_CHECK(!verdict.records.empty());
}

/// Times decisions in rungs that hold `held` values before the first of them.
Cost Measure(const AshaSpec& spec, int32_t held) {
  std::vector<Nanoseconds> times;
  Nanoseconds cpu{0};
  for (int round = 0; round < kRounds; ++round) {
    CounterRandom random({.seed = round, .trial = {0}, .redraw = 0, .name = "bench.decision_cost"});
    const std::unique_ptr<StoppingRule> rule = Make(spec);
    for (int32_t trial = 0; trial < held; ++trial) Decide(*rule, {trial}, random.NextUnit());
    const Nanoseconds cpu_before = CpuTime();
    for (int32_t trial = held; trial < held + kDecisions; ++trial) {
      const double value = random.NextUnit();
      const auto start = std::chrono::steady_clock::now();
      Decide(*rule, {trial}, value);
      times.emplace_back(std::chrono::steady_clock::now() - start);
    }
    cpu += CpuTime() - cpu_before;
  }
  std::ranges::sort(times);
  return {.median = times[times.size() / 2],
          .p99 = times[times.size() * 99 / 100],
          .mean_cpu = cpu / static_cast<double>(times.size())};
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
  AshaSpec promotion = quantile;
  promotion.variant = AshaSpec::Variant::kPromotion;

  fmt::print("one decision, µs                   p50     p99    mean CPU\n");
  for (const auto& [name, spec] : {std::pair(std::string("stopping, quantile"), quantile),
                                   {"stopping, top", top},
                                   {"promotion", promotion}}) {
    for (const int32_t held : {100, 1'000, 10'000}) {
      const Cost cost = Measure(spec, held);
      fmt::print("{:<20} {:>6} values  {:>6.2f}  {:>6.2f}  {:>6.2f}\n", name, held,
                 cost.median.count() / 1e3, cost.p99.count() / 1e3, cost.mean_cpu.count() / 1e3);
    }
  }
  fmt::print("\none entry of a rung: {:.1f} bytes of heap (10,000 entries)\n",
             BytesOfAnEntry(10'000));
  return 0;
}

}  // namespace
}  // namespace rung

int main() { return rung::Main(); }
