#include "search/decimal_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/check.h"

namespace rung {
namespace {

__extension__ using Int128 = __int128;

constexpr int kDigitsMax = 36;  // 10^36 < 2^127, with room for a sum

/// coefficient · 10^exponent; the coefficient has no trailing zero.
struct Decimal {
  Int128 coefficient = 0;
  int exponent = 0;
};

Decimal ShortestDecimal(double value) {
  RUNG_CHECK(std::isfinite(value));
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::scientific);
  RUNG_CHECK(error == std::errc());
  const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t e = text.find('e');

  Decimal decimal;
  bool after_point = false;
  for (const char c : text.substr(0, e)) {
    if (c == '.') after_point = true;
    if (c < '0' || c > '9') continue;
    decimal.coefficient = decimal.coefficient * 10 + (c - '0');
    if (after_point) --decimal.exponent;
  }
  decimal.exponent += std::atoi(std::string(text.substr(e + 1)).c_str());
  if (text.front() == '-') decimal.coefficient = -decimal.coefficient;
  while (decimal.coefficient != 0 && decimal.coefficient % 10 == 0) {
    decimal.coefficient /= 10;
    ++decimal.exponent;
  }
  if (decimal.coefficient == 0) decimal.exponent = 0;
  return decimal;
}

/// The decimal in units of 10^exponent; nullopt when it is no whole number of them or too large.
std::optional<Int128> InUnits(Decimal decimal, int exponent) {
  if (decimal.coefficient == 0) return 0;
  if (decimal.exponent < exponent || decimal.exponent - exponent > kDigitsMax) return std::nullopt;
  Int128 limit = 1;
  for (int i = 0; i < kDigitsMax; ++i) limit *= 10;
  Int128 units = decimal.coefficient;
  for (int i = exponent; i < decimal.exponent; ++i) {
    if (units > limit / 10 || units < -limit / 10) return std::nullopt;
    units *= 10;
  }
  return units;
}

std::string Digits(Int128 value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string digits;
  for (; value != 0; value /= 10) {
    const auto digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (negative ? -digit : digit));
  }
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

absl::StatusOr<DecimalSteps> DecimalSteps::Create(const StepRange& range) {
  RUNG_CHECK(range.low <= range.high);
  RUNG_CHECK(range.q > 0);
  const Decimal low = ShortestDecimal(range.low);
  const Decimal high = ShortestDecimal(range.high);
  const Decimal q = ShortestDecimal(range.q);
  int exponent = q.exponent;
  if (low.coefficient != 0) exponent = std::min(exponent, low.exponent);
  if (high.coefficient != 0) exponent = std::min(exponent, high.exponent);

  const std::optional<Int128> low_units = InUnits(low, exponent);
  const std::optional<Int128> high_units = InUnits(high, exponent);
  const std::optional<Int128> q_units = InUnits(q, exponent);
  if (!low_units || !high_units || !q_units) {
    return absl::InvalidArgumentError(
        fmt::format("low {}, high {} and q {} are so far apart that their sum has more than {} "
                    "digits",
                    range.low, range.high, range.q, kDigitsMax));
  }
  const Int128 count = (*high_units - *low_units) / *q_units + 1;
  constexpr int64_t kCountMax = int64_t{1} << 53;  // up to here a double counts exactly
  if (count > kCountMax) {
    return absl::InvalidArgumentError(fmt::format(
        "low {}, high {} and q {} make more than 2^53 values", range.low, range.high, range.q));
  }
  DecimalSteps steps;
  steps.low_ = *low_units;
  steps.q_ = *q_units;
  steps.exponent_ = exponent;
  steps.low_value_ = range.low;
  steps.q_value_ = range.q;
  steps.count_ = static_cast<int64_t>(count);
  return steps;
}

double DecimalSteps::At(int64_t k) const {
  RUNG_CHECK(k >= 0 && k < count_);
  const std::string text = fmt::format("{}e{}", Digits(low_ + k * q_), exponent_);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Only an underflow is possible, and then the nearest double is 0.
  RUNG_CHECK(error == std::errc() || error == std::errc::result_out_of_range);
  return value;
}

int64_t DecimalSteps::Nearest(double value) const {
  const double k = std::floor((value - low_value_) / q_value_ + 0.5);
  return static_cast<int64_t>(std::clamp(k, 0.0, static_cast<double>(count_ - 1)));
}

std::optional<int64_t> DecimalSteps::IndexOf(double value) const {
  const std::optional<Int128> units = InUnits(ShortestDecimal(value), exponent_);
  if (!units || *units < low_ || (*units - low_) % q_ != 0) return std::nullopt;
  const Int128 k = (*units - low_) / q_;
  if (k >= count_) return std::nullopt;
  return static_cast<int64_t>(k);
}

}  // namespace rung
