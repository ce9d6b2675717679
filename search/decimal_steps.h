#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>

/// The values low, low + q, low + 2q, … up to high of a quantised range, as decimals.
///
/// The three numbers mean the shortest decimal that reads back to them (0.2 is two tenths, not
/// 0.200000000000000011), and every value is the double nearest to the exact decimal sum: 0.2, 0.5,
/// 0.8 and never 0.30000000000000004.
namespace rung {

struct StepRange {
  double low = 0, high = 0, q = 0;  ///< finite, low ≤ high, q > 0
};

class DecimalSteps {
 public:
  /// Errors: INVALID_ARGUMENT, without a path, for more than 2^53 steps, or numbers so far apart
  /// that their sum needs more than 36 digits.
  static absl::StatusOr<DecimalSteps> Create(const StepRange& range);

  /// At least 1.
  int64_t count() const { return count_; }
  /// low + k · q, 0 ≤ k < count().
  double At(int64_t k) const;
  /// The k of the value nearest to `value`; of two equally near ones the larger.
  int64_t Nearest(double value) const;
  /// The k with At(k) == value as a decimal, if there is one.
  std::optional<int64_t> IndexOf(double value) const;

 private:
  __extension__ using Int128 = __int128;

  DecimalSteps() = default;

  Int128 low_ = 0;    ///< in units of 10^exponent_
  Int128 q_ = 0;      ///< in units of 10^exponent_
  int exponent_ = 0;  ///< decimal
  double low_value_ = 0;
  double q_value_ = 0;
  int64_t count_ = 0;
};

}  // namespace rung
