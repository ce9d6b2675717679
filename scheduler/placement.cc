#include "scheduler/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace rung {
namespace {

std::string Counted(int64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

/// One kind of resource: its amount and its words.
struct Kind {
  int64_t (*amount)(const Resources&);
  std::string (*number)(int64_t);
  std::string (*words)(int64_t);
};

std::string PlainNumber(int64_t n) { return fmt::format("{}", n); }
std::string CpuNumber(int64_t milli_cpus) {
  return fmt::format("{}", static_cast<double>(milli_cpus) / 1000);
}
std::string MemoryNumber(int64_t bytes) {
  return fmt::format("{:.4g} GiB", static_cast<double>(bytes) / (1 << 30));
}

constexpr std::array<Kind, 3> kKinds{{
    {[](const Resources& r) { return int64_t{r.gpus}; }, PlainNumber,
     [](int64_t n) { return Counted(n, "GPU", "GPUs"); }},
    {[](const Resources& r) { return r.milli_cpus; }, CpuNumber,
     [](int64_t n) { return CpuNumber(n) + (n == 1000 ? " CPU" : " CPUs"); }},
    {[](const Resources& r) { return r.memory_bytes; }, MemoryNumber,
     [](int64_t n) { return MemoryNumber(n) + " of memory"; }},
}};

}  // namespace

int64_t Gang::Slots() const {
  const Resources total = Total();
  if (total.gpus > 0) return total.gpus;
  return std::max<int64_t>(1, (total.milli_cpus + 999) / 1000);
}

bool Fits(const Resources& demand, const Resources& available) {
  return demand.milli_cpus <= available.milli_cpus &&
         demand.memory_bytes <= available.memory_bytes && demand.gpus <= available.gpus;
}

std::optional<size_t> PlaceGang(const Gang& gang, std::span<const WorkerOffer> workers) {
  const Resources demand = gang.Total();
  const auto rank = [](const WorkerOffer& w) {
    return std::tie(w.free.gpus, w.free.milli_cpus, w.name);
  };
  std::optional<size_t> best;
  for (size_t i = 0; i < workers.size(); ++i) {
    if (!Fits(demand, workers[i].free)) continue;
    if (!best || rank(workers[i]) < rank(workers[*best])) best = i;
  }
  return best;
}

std::string WhyNotPlaced(const Gang& gang, std::span<const WorkerOffer> workers) {
  if (workers.empty()) return "no worker is connected";
  const Resources demand = gang.Total();
  const std::string processes = Counted(gang.processes, "process", "processes");
  std::string all;
  for (const Kind& kind : kKinds) {
    const int64_t need = kind.amount(demand);
    if (need == 0) continue;
    const WorkerOffer& largest = *std::ranges::max_element(
        workers, {}, [&](const WorkerOffer& w) { return kind.amount(w.total); });
    const int64_t has = kind.amount(largest.total);
    if (has < need) {
      return fmt::format("needs {} for {}; the largest worker, {}, has {}", kind.words(need),
                         processes, largest.name, kind.number(has));
    }
    all += (all.empty() ? "" : ", ") + kind.words(need);
  }
  const bool some =
      std::ranges::any_of(workers, [&](const WorkerOffer& w) { return Fits(demand, w.total); });
  return fmt::format("needs {} for {}; {}", all, processes,
                     some ? "every worker that has them is busy" : "no worker has all of them");
}

}  // namespace rung
