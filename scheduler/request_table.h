#pragma once

#include <absl/status/statusor.h>

#include <deque>
#include <map>
#include <string>

#include "storage/rows.h"

/// The first answers to writing calls, so that a repeated call is answered alike and does nothing.
namespace rung {

class RequestTable {
 public:
  /// The row of an earlier call with this id; nullptr for an empty or a new one. Errors:
  /// INVALID_ARGUMENT when the id was used for another method.
  absl::StatusOr<const RequestRow*> Find(const std::string& request_id,
                                         const std::string& method) const;
  /// Remembers an answer. Rows come in the order of time.
  void Add(RequestRow row);
  /// Drops rows older than `before`; whether there were any.
  bool Forget(WallTime before);

  const std::map<std::string, RequestRow>& all() const { return rows_; }

 private:
  std::map<std::string, RequestRow> rows_;
  std::deque<std::string> by_time_;
};

}  // namespace rung
