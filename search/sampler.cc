#include "search/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/check.h"
#include "core/parameters.h"
#include "search/decimal_steps.h"
#include "search/normal_quantile.h"

namespace rung {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();

/// A standard normal number (Box and Muller, 1958).
double NextNormal(CounterRandom& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.NextUnit()));  // 1 − u is never 0
  return radius * std::cos(2 * std::numbers::pi * random.NextUnit());
}

DecimalSteps StepsOf(const StepRange& range) {
  absl::StatusOr<DecimalSteps> steps = DecimalSteps::Create(range);
  RUNG_CHECK(steps.ok());  // the space was checked
  return *std::move(steps);
}

int64_t Add(int64_t low, uint64_t offset) {
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

/// 0 for 2^64, which only q = 1 over all 64-bit integers reaches.
uint64_t StepCount(const QRandInt& d) {
  const uint64_t span = static_cast<uint64_t>(d.high) - static_cast<uint64_t>(d.low);
  return span / static_cast<uint64_t>(d.q) + 1;
}

std::string NormalText(const Normal& d, double z) {
  const double value = std::clamp(d.mean + d.sd * z, -kLargest, kLargest);
  return JsonFloat(std::clamp(RoundTo12Digits(value), -kLargest, kLargest));
}

std::string LogNormalText(const LogNormal& d, double z) {
  constexpr double kSmallest = std::numeric_limits<double>::min();
  const double value = std::clamp(std::exp(d.mean + d.sd * z), kSmallest, kLargest);
  return JsonFloat(std::clamp(RoundTo12Digits(value), kSmallest, kLargest));
}

/// The inverse of each form's distribution function.
struct At {
  double fraction;

  /// ⌊fraction · count⌋. A `count` of 0 stands for 2^64.
  uint64_t Index(uint64_t count) const {
    __extension__ using Uint128 = unsigned __int128;
    const auto numerator = static_cast<uint64_t>(fraction * 0x1p53);  // exact
    if (count == 0) return numerator << 11U;
    return static_cast<uint64_t>(static_cast<Uint128>(numerator) * count >> 53U);
  }

  std::string operator()(const Uniform& d) const {
    return JsonFloat(Between(d.low, d.high, fraction));
  }
  std::string operator()(const QUniform& d) const {
    const DecimalSteps steps = StepsOf({.low = d.low, .high = d.high, .q = d.q});
    const uint64_t k = Index(static_cast<uint64_t>(steps.count()));
    return JsonFloat(steps.At(static_cast<int64_t>(k)));
  }
  std::string operator()(const LogUniform& d) const {
    return JsonFloat(LogBetween(d.low, d.high, fraction));
  }
  std::string operator()(const QLogUniform& d) const {
    const DecimalSteps steps = StepsOf({.low = d.low, .high = d.high, .q = d.q});
    return JsonFloat(steps.At(steps.Nearest(LogBetween(d.low, d.high, fraction))));
  }
  std::string operator()(const RandInt& d) const {
    const uint64_t count = static_cast<uint64_t>(d.high) - static_cast<uint64_t>(d.low);
    return fmt::format("{}", Add(d.low, Index(count)));
  }
  std::string operator()(const QRandInt& d) const {
    const auto q = static_cast<uint64_t>(d.q);
    return fmt::format("{}", Add(d.low, Index(StepCount(d)) * q));
  }
  std::string operator()(const LogRandInt& d) const {
    // Uniform in the logarithm over [low, high) and rounded down, so that k has the odds of
    // [k, k + 1).
    const double value =
        std::floor(LogBetween(static_cast<double>(d.low), static_cast<double>(d.high), fraction));
    if (value >= static_cast<double>(d.high - 1)) return fmt::format("{}", d.high - 1);
    return fmt::format("{}", std::max(d.low, static_cast<int64_t>(value)));
  }
  std::string operator()(const Normal& d) const { return NormalText(d, NormalQuantile(fraction)); }
  std::string operator()(const LogNormal& d) const {
    return LogNormalText(d, NormalQuantile(fraction));
  }
  std::string operator()(const Choice& d) const { return d.values[Index(d.values.size())]; }
  std::string operator()(const GridValues& /*d*/) const {
    RUNG_CHECK(!"drawn: a grid's values are taken in turn");
    return {};
  }
  std::string operator()(const Constant& d) const { return d.value; }
};

/// Of the values alike one by NextBelow, of the others by the inverse of the distribution function.
struct Draw {
  CounterRandom& random;

  std::string operator()(const QUniform& d) const {
    const DecimalSteps steps = StepsOf({.low = d.low, .high = d.high, .q = d.q});
    const uint64_t k = random.NextBelow(static_cast<uint64_t>(steps.count()));
    return JsonFloat(steps.At(static_cast<int64_t>(k)));
  }
  std::string operator()(const RandInt& d) const {
    const uint64_t count = static_cast<uint64_t>(d.high) - static_cast<uint64_t>(d.low);
    return fmt::format("{}", Add(d.low, random.NextBelow(count)));
  }
  std::string operator()(const QRandInt& d) const {
    const uint64_t count = StepCount(d);
    const uint64_t k = count == 0 ? random.NextBits() : random.NextBelow(count);
    return fmt::format("{}", Add(d.low, k * static_cast<uint64_t>(d.q)));
  }
  std::string operator()(const Normal& d) const { return NormalText(d, NextNormal(random)); }
  std::string operator()(const LogNormal& d) const { return LogNormalText(d, NextNormal(random)); }
  std::string operator()(const Choice& d) const {
    return d.values[random.NextBelow(d.values.size())];
  }
  std::string operator()(const auto& d) const { return At{random.NextUnit()}(d); }
};

}  // namespace

double RoundTo12Digits(double value) {
  RUNG_CHECK(std::isfinite(value));
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::scientific, 11);
  RUNG_CHECK(error == std::errc());
  double rounded = 0;
  const auto [last, range] = std::from_chars(buffer.data(), end, rounded);
  // Beyond the largest double or below the smallest the value is kept as it is.
  return range == std::errc() ? rounded : value;
}

double LogBetween(double low, double high, double fraction) {
  const double log_low = std::log(low);
  const double value = std::exp(log_low + (std::log(high) - log_low) * fraction);
  return std::clamp(RoundTo12Digits(std::clamp(value, low, high)), low, high);
}

double Between(double low, double high, double fraction) {
  // Not low + (high − low) · fraction: the difference of two finite numbers may be infinite.
  const double value = low * (1 - fraction) + high * fraction;
  return std::clamp(RoundTo12Digits(value), low, high);
}

std::string SampleValue(const Domain& domain, CounterRandom& random) {
  return std::visit(Draw{random}, domain);
}

std::string ValueAt(const Domain& domain, double fraction) {
  RUNG_CHECK(fraction >= 0 && fraction < 1);
  return std::visit(At{fraction}, domain);
}

}  // namespace rung
