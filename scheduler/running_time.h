#pragma once

#include "core/time.h"

namespace rung {

/// The monotonic time during which the loop ran: it stands still while the whole process did not
/// run (SIGSTOP, a frozen container, a migrated machine). What the workers said meanwhile was not
/// read, so that time counts as nobody's silence; else every lease would end at the first tick
/// after a long stop, and with it all training. A loop that turns slowly, on a disk that takes
/// seconds for a commit, is no stopped one: its time runs by `gap_max` a turn, so that leases and
/// deadlines still come.
class RunningTime {
 public:
  /// Of a gap between two readings what is longer than `gap_max` is time without running.
  explicit RunningTime(MonoClock::duration gap_max) : gap_max_(gap_max) {}

  /// Running time at `read`. Readings and results never decrease.
  MonoTime At(MonoTime read);

  /// The gap that the last reading left out; 0: none.
  MonoClock::duration last_gap() const { return last_gap_; }

 private:
  const MonoClock::duration gap_max_;
  MonoTime last_read_{};
  bool started_ = false;
  MonoClock::duration stopped_{0};  ///< all gaps
  MonoClock::duration last_gap_{0};
};

}  // namespace rung
