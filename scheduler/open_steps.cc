#include "scheduler/open_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"

namespace rung {

double ReduceRanks(Reduce reduce, const std::map<int32_t, MetricValue>& values) {
  RUNG_CHECK(!values.empty());
  double result = values.begin()->second.value;
  if (reduce == Reduce::kRank0) return result;
  double weighted = 0;
  double weight = 0;
  for (const auto& [rank, metric] : values) {
    if (!std::isfinite(metric.value)) return std::numeric_limits<double>::quiet_NaN();
    const double count = static_cast<double>(metric.count);
    weighted += count * metric.value;
    weight += count;
    if (reduce == Reduce::kMin) result = std::min(result, metric.value);
    if (reduce == Reduce::kMax) result = std::max(result, metric.value);
  }
  return reduce == Reduce::kMean ? weighted / weight : result;
}

OpenSteps::OpenSteps(Reduce reduce, int32_t processes)
    : reduce_(reduce),
      exited_(static_cast<size_t>(processes), false),
      last_step_(static_cast<size_t>(processes)) {
  RUNG_CHECK(processes >= 1);
}

const MetricValue* OpenSteps::Find(int32_t rank, Steps step, const std::string& name) const {
  const auto it = steps_.find(step);
  if (it == steps_.end()) return nullptr;
  for (const Value& value : it->second.values) {
    if (value.name != name) continue;
    const auto found = value.by_rank.find(rank);
    return found == value.by_rank.end() ? nullptr : &found->second;
  }
  return nullptr;
}

bool OpenSteps::IsOpen(Steps step, const std::string& name) const {
  const auto it = steps_.find(step);
  if (it == steps_.end()) return false;
  return std::ranges::any_of(it->second.values, [&](const Value& v) { return v.name == name; });
}

std::optional<Steps> OpenSteps::LastStepOf(int32_t rank) const {
  return last_step_[static_cast<size_t>(rank)];
}

void OpenSteps::Add(int32_t rank, Steps step, const std::vector<MetricValue>& fresh,
                    const std::vector<std::string>& names, uint64_t report_id) {
  std::optional<Steps>& last = last_step_[static_cast<size_t>(rank)];
  last = std::max(last.value_or(step), step);
  Step& open = steps_[step];
  if (Counts(rank)) {
    for (const MetricValue& metric : fresh) {
      auto value = std::ranges::find(open.values, metric.name, &Value::name);
      if (value == open.values.end()) value = open.values.insert(value, {metric.name, {}});
      value->by_rank.emplace(rank, metric);
    }
  }
  const bool known =
      std::ranges::find(open.waiting, report_id, &Waiting::report_id) != open.waiting.end();
  if (!known) open.waiting.push_back({report_id, rank, names});
}

void OpenSteps::RankExited(int32_t rank) { exited_[static_cast<size_t>(rank)] = true; }

void OpenSteps::CloseOldest() {
  if (!steps_.empty()) steps_.begin()->second.closed = true;
}

int64_t OpenSteps::open_values() const {
  int64_t n = 0;
  for (const auto& [step, open] : steps_) n += static_cast<int64_t>(open.values.size());
  return n;
}

std::optional<OpenSteps::Batch> OpenSteps::Take() {
  while (!steps_.empty()) {
    const auto first = steps_.begin();
    auto& [step, open] = *first;
    Batch batch{.step = step, .values = {}, .report_ids = {}};
    TakeValues(step, open, batch);
    TakeReports(step, open, batch);
    const bool done = open.values.empty() && open.waiting.empty();
    if (done) steps_.erase(first);
    if (!batch.values.empty() || !batch.report_ids.empty()) return batch;
    if (!done) return std::nullopt;
  }
  return std::nullopt;
}

bool OpenSteps::IsComplete(Steps step, const Value& value) const {
  if (reduce_ == Reduce::kRank0) return true;
  bool all = true;
  for (size_t rank = 0; rank < exited_.size(); ++rank) {
    if (!value.by_rank.contains(static_cast<int32_t>(rank))) {
      all = all && exited_[rank];
    } else if (exited_[rank] || last_step_[rank].value_or(step) > step) {
      return true;
    }
  }
  return all;
}

bool OpenSteps::IsAnswerable(Steps step, const Step& open, const Waiting& waiting) const {
  if (open.closed) return true;
  if (!Counts(waiting.rank)) {
    return stopped_ || exited_[0] || (last_step_[0] && *last_step_[0] >= step);
  }
  return std::ranges::none_of(open.values, [&](const Value& value) {
    return std::ranges::find(waiting.names, value.name) != waiting.names.end();
  });
}

void OpenSteps::TakeValues(Steps step, Step& open, Batch& batch) const {
  std::erase_if(open.values, [&](const Value& value) {
    if (!open.closed && !IsComplete(step, value)) return false;
    batch.values.push_back({.name = value.name,
                            .value = ReduceRanks(reduce_, value.by_rank),
                            .ranks = static_cast<int32_t>(value.by_rank.size())});
    return true;
  });
}

void OpenSteps::TakeReports(Steps step, Step& open, Batch& batch) const {
  std::erase_if(open.waiting, [&](const Waiting& waiting) {
    if (!IsAnswerable(step, open, waiting)) return false;
    batch.report_ids.push_back(waiting.report_id);
    return true;
  });
}

}  // namespace rung
