#include "scheduler/next_work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

namespace rung {
namespace {

std::optional<size_t> IndexOf(std::span<const WorkerOffer> offer, const std::string& name) {
  for (size_t i = 0; i < offer.size(); ++i) {
    if (offer[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<Work> FirstThatFits(const WorkDemand& demand, std::span<const WorkerOffer> offer) {
  if (demand.at_max_concurrent) return std::nullopt;
  bool anywhere_is_full = false;  // equal gangs: what one trial found full is full for the next
  for (const auto* trials : {&demand.queued, &demand.promotions, &demand.new_trials}) {
    for (const QueuedTrial& trial : *trials) {
      if (!trial.only_on && anywhere_is_full) continue;
      const std::vector<WorkerOffer> workers = WorkersFor(demand, trial, offer);
      const std::optional<size_t> placed = PlaceGang(demand.gang, workers);
      if (placed) {
        return Work{demand.experiment, trial.number, *IndexOf(offer, workers[*placed].name)};
      }
      if (!trial.only_on) anywhere_is_full = true;
    }
  }
  return std::nullopt;
}

/// "a, b: there is no folder '/x' here; c: …", workers with one reason together.
std::string RefusalsText(const std::map<std::string, std::string>& refused_by) {
  constexpr size_t kReasonsMax = 3;
  std::map<std::string, std::vector<std::string>> workers_by_reason;
  for (const auto& [worker, why] : refused_by) workers_by_reason[why].push_back(worker);
  std::vector<std::string> texts;
  for (const auto& [why, workers] : workers_by_reason) {
    if (texts.size() == kReasonsMax) {
      texts.push_back(fmt::format("{} more reasons", workers_by_reason.size() - kReasonsMax));
      break;
    }
    const std::string names = fmt::format("{}", fmt::join(workers, ", "));
    texts.push_back(why.empty() ? names : fmt::format("{}: {}", names, why));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

std::vector<WorkerOffer> WorkersFor(const WorkDemand& demand, const QueuedTrial& trial,
                                    std::span<const WorkerOffer> offer) {
  std::vector<WorkerOffer> workers;
  for (const WorkerOffer& worker : offer) {
    if (demand.passed_over.contains(worker.name)) continue;
    if (trial.only_on && *trial.only_on != worker.name) continue;
    workers.push_back(worker);
  }
  return workers;
}

std::optional<Work> NextWork(std::span<const WorkDemand> demands,
                             std::span<const WorkerOffer> offer) {
  std::vector<const WorkDemand*> order;
  for (const WorkDemand& demand : demands) order.push_back(&demand);
  std::ranges::sort(order, {}, [](const WorkDemand* d) {
    return std::tuple(-int64_t{d->priority}, d->slots_in_use, d->experiment);
  });
  for (const WorkDemand* demand : order) {
    if (std::optional<Work> work = FirstThatFits(*demand, offer)) return work;
  }
  return std::nullopt;
}

std::string WhyWaiting(const WorkDemand& demand, const QueuedTrial& trial,
                       std::span<const WorkerOffer> offer) {
  if (demand.at_max_concurrent) return "waiting: limits.max_concurrent trials of it run already";
  if (trial.only_on) {
    const auto passed_over = demand.passed_over.find(*trial.only_on);
    if (passed_over != demand.passed_over.end()) {
      return fmt::format("waiting: its checkpoint is on worker {}, which {}", *trial.only_on,
                         passed_over->second);
    }
    const bool connected = IndexOf(offer, *trial.only_on).has_value();
    return fmt::format("waiting: its checkpoint is on worker {}, which is {}", *trial.only_on,
                       connected ? "busy" : "not connected at the moment");
  }
  const std::vector<WorkerOffer> workers = WorkersFor(demand, trial, offer);
  if (demand.passed_over.empty()) {
    return "waiting: " + WhyNotPlaced(demand.gang, workers);
  }
  const std::string refused = RefusalsText(demand.passed_over);
  if (workers.empty()) {
    return "waiting: no other worker is connected than those that refused it: " + refused;
  }
  return fmt::format("waiting: {} (passed over, since they refused it: {})",
                     WhyNotPlaced(demand.gang, workers), refused);
}

}  // namespace rung
