#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <string>
#include <string_view>

#include "core/counter_random.h"
#include "replay/trace_json.h"
#include "replay/trace_run.h"

/// `rung replay` on a trace of 1,000,000 reports, without the file system: 10,000 trials that
/// report 100 steps each, interleaved, under a rule with six levels; and 1,000,000 trials of one
/// report, all in one rung.
namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

/// The CPU's seconds besides those of the clock: on a busy machine they differ.
class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double CpuSeconds() const {
    return static_cast<double>(std::clock() - cpu_start_) / CLOCKS_PER_SEC;
  }

 private:
  Clock::time_point start_ = Clock::now();
  std::clock_t cpu_start_ = std::clock();
};

std::string MakeTrace(int32_t trials, Steps steps, std::string_view scheduler) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text),
                 R"({{"goal": "maximize", "scheduler": {}, "trials": {}, "events": [)", scheduler,
                 trials);
  for (Steps step = 1; step <= steps; ++step) {
    CounterRandom random({.seed = step, .trial = {0}, .redraw = 0, .name = "bench"});
    for (int32_t trial = 0; trial < trials; ++trial) {
      const bool first = step == 1 && trial == 0;
      fmt::format_to(std::back_inserter(text),
                     "{}\n{{\"report\": {{\"trial\": {}, \"step\": {}, \"value\": {:.12g}}}}}",
                     first ? "" : ",", trial, step, random.NextUnit());
    }
  }
  text.append(std::string_view("]}\n"));
  return fmt::to_string(text);
}

/// False when the trace is refused.
bool Measure(std::string_view name, const std::string& text) {
  const Stopwatch watch;
  const absl::StatusOr<Trace> trace = ReadTrace(text);
  const double read = watch.Seconds();
  const double read_cpu = watch.CpuSeconds();
  if (!trace.ok()) {
    fmt::print(stderr, "{}\n", std::string(trace.status().message()));
    return false;
  }
  size_t bytes = 0;
  const auto result = RunTrace(*trace, [&](std::string_view lines) { bytes += lines.size(); });
  const double all = watch.Seconds();
  const double all_cpu = watch.CpuSeconds();
  if (!result.ok()) {
    fmt::print(stderr, "{}\n", std::string(result.status().message()));
    return false;
  }
  const auto events = static_cast<double>(trace->events.size());
  fmt::print(
      "{}: {} reports, {:.0f} MB in, {:.0f} MB out\n"
      "  {:.2f} s, {:.0f} reports/s (reading {:.2f} s, deciding and writing {:.2f} s)\n"
      "  {:.2f} s of CPU (reading {:.2f} s, deciding and writing {:.2f} s)\n",
      name, trace->events.size(), static_cast<double>(text.size()) / 1e6,
      static_cast<double>(bytes) / 1e6, all, events / all, read, all - read, all_cpu, read_cpu,
      all_cpu - read_cpu);
  return true;
}

}  // namespace
}  // namespace rung

int main() {
  const std::string curves = rung::MakeTrace(
      10'000, 100, R"({"asha": {"max_t": 100, "grace_period": 3, "reduction_factor": 2}})");
  const std::string one_rung = rung::MakeTrace(
      1'000'000, 1, R"({"asha": {"max_t": 100, "grace_period": 1, "reduction_factor": 3}})");
  const bool ok = rung::Measure("10,000 curves", curves) && rung::Measure("one rung", one_rung);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
