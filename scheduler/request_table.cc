#include "scheduler/request_table.h"

#include <absl/status/status.h>
#include <fmt/format.h>

namespace rung {

absl::StatusOr<const RequestRow*> RequestTable::Find(const std::string& request_id,
                                                     const std::string& method) const {
  const auto it = rows_.find(request_id);
  if (it == rows_.end()) return nullptr;
  if (it->second.method != method) {
    return absl::InvalidArgumentError(
        fmt::format("request_id '{}' was used for {} already: give each {} an id of its own",
                    request_id, it->second.method, method));
  }
  return &it->second;
}

void RequestTable::Add(RequestRow row) {
  if (row.request_id.empty()) return;
  by_time_.push_back(row.request_id);
  rows_.insert_or_assign(row.request_id, std::move(row));
}

bool RequestTable::Forget(WallTime before) {
  bool any = false;
  while (!by_time_.empty()) {
    const auto it = rows_.find(by_time_.front());
    if (it != rows_.end()) {
      if (it->second.time >= before) break;
      rows_.erase(it);
      any = true;
    }
    by_time_.pop_front();
  }
  return any;
}

}  // namespace rung
