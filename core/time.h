#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

/// Two kinds of time that never mix: a monotonic one for deadlines, a wall one for records.
namespace rung {

/// The clock of deadlines. It has no now(): only a shell or the simulator can mint a MonoTime.
struct MonoClock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonoClock>;
  static constexpr bool is_steady = true;
};
using MonoTime = MonoClock::time_point;

/// UTC, microseconds since 1970. Only for records: nothing is decided by it, since it may jump.
struct WallTime {
  int64_t us = 0;
  auto operator<=>(const WallTime&) const = default;
};

/// What a step is told about the present.
struct Now {
  MonoTime mono;
  WallTime wall;
};

}  // namespace rung
