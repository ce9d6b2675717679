#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "core/time.h"

/// Time-limited rights to run: of a worker (its name) for all of its attempts, and of an ask/tell
/// attempt. Who is silent until its deadline has lost it.
namespace rung {

using LeaseHolder = std::variant<std::string, AttemptId>;

class LeaseTable {
 public:
  /// Grants or renews: `holder` keeps its right until `deadline`.
  void Grant(const LeaseHolder& holder, MonoTime deadline);
  void Release(const LeaseHolder& holder);

  /// Takes out those whose deadline is not after `now`, in the order of (deadline, holder).
  std::vector<LeaseHolder> TakeExpired(MonoTime now);

 private:
  std::map<LeaseHolder, MonoTime> deadlines_;
  std::set<std::pair<MonoTime, LeaseHolder>> by_deadline_;
};

}  // namespace rung
