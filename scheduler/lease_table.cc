#include "scheduler/lease_table.h"

namespace rung {

void LeaseTable::Grant(const LeaseHolder& holder, MonoTime deadline) {
  const auto [it, fresh] = deadlines_.try_emplace(holder, deadline);
  if (!fresh) {
    by_deadline_.erase({it->second, holder});
    it->second = deadline;
  }
  by_deadline_.insert({deadline, holder});
}

void LeaseTable::Release(const LeaseHolder& holder) {
  const auto it = deadlines_.find(holder);
  if (it == deadlines_.end()) return;
  by_deadline_.erase({it->second, holder});
  deadlines_.erase(it);
}

std::vector<LeaseHolder> LeaseTable::TakeExpired(MonoTime now) {
  std::vector<LeaseHolder> expired;
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    expired.push_back(by_deadline_.begin()->second);
    Release(expired.back());
  }
  return expired;
}

}  // namespace rung
