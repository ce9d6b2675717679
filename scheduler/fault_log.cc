#include "scheduler/fault_log.h"

#include <algorithm>
#include <utility>

namespace rung {

std::optional<int64_t> FaultLog::Note(MonoTime now) {
  TakeOver(now);  // what comes after a pause is a new fault
  last_ = now;
  if (lasts_ && now - logged_ < interval_) {
    ++quiet_;
    return std::nullopt;
  }
  interval_ = lasts_ ? std::min(2 * interval_, kIntervalMax) : kFirstInterval;
  lasts_ = true;
  logged_ = now;
  return std::exchange(quiet_, 0);
}

bool FaultLog::TakeOver(MonoTime now) {
  if (!lasts_ || now - last_ < kOverAfter) return false;
  lasts_ = false;
  quiet_ = 0;
  return true;
}

}  // namespace rung
