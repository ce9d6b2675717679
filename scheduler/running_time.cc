#include "scheduler/running_time.h"

namespace rung {

MonoTime RunningTime::At(MonoTime read) {
  const auto gap = started_ ? read - last_read_ : MonoClock::duration{0};
  started_ = true;
  last_read_ = read;
  last_gap_ = gap > gap_max_ ? gap - gap_max_ : MonoClock::duration{0};
  stopped_ += last_gap_;
  return read - stopped_;
}

}  // namespace rung
