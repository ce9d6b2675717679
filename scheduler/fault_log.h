#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/time.h"

/// When a fault that goes on is logged: the first time at once, then at intervals that double up to
/// ten minutes, so that a weekend with a full disk does not fill the log as well. Pure.
namespace rung {

class FaultLog {
 public:
  /// It happened. How many times it was kept quiet since it was logged last, if it is to be logged
  /// now; nullopt: keep this one quiet, too.
  std::optional<int64_t> Note(MonoTime now);

  /// Whether it is over: true once, when it has not happened for kOverAfter.
  bool TakeOver(MonoTime now);

  static constexpr std::chrono::milliseconds kFirstInterval{2'000};
  static constexpr std::chrono::milliseconds kIntervalMax{600'000};
  static constexpr std::chrono::milliseconds kOverAfter{5'000};

 private:
  bool lasts_ = false;
  MonoTime last_{};  ///< when it happened last
  MonoTime logged_{};
  std::chrono::milliseconds interval_{};
  int64_t quiet_ = 0;
};

}  // namespace rung
