#pragma once

#include <chrono>
#include <cstdint>

namespace rung::cli {

/// Now, UTC microseconds since 1970, for ages and durations that are shown to people.
inline int64_t WallClockUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace rung::cli
