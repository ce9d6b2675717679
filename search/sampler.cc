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

struct Draw {
  CounterRandom& random;

  std::string operator()(const Uniform& d) const {
    return JsonFloat(Between(d.low, d.high, random.NextUnit()));
  }
  std::string operator()(const QUniform& d) const {
    const DecimalSteps steps = StepsOf({.low = d.low, .high = d.high, .q = d.q});
    const uint64_t k = random.NextBelow(static_cast<uint64_t>(steps.count()));
    return JsonFloat(steps.At(static_cast<int64_t>(k)));
  }
  std::string operator()(const LogUniform& d) const {
    return JsonFloat(LogBetween(d.low, d.high, random.NextUnit()));
  }
  std::string operator()(const QLogUniform& d) const {
    const DecimalSteps steps = StepsOf({.low = d.low, .high = d.high, .q = d.q});
    return JsonFloat(steps.At(steps.Nearest(LogBetween(d.low, d.high, random.NextUnit()))));
  }
  std::string operator()(const RandInt& d) const {
    const uint64_t count = static_cast<uint64_t>(d.high) - static_cast<uint64_t>(d.low);
    return fmt::format("{}", Add(d.low, random.NextBelow(count)));
  }
  std::string operator()(const QRandInt& d) const {
    const uint64_t span = static_cast<uint64_t>(d.high) - static_cast<uint64_t>(d.low);
    const auto q = static_cast<uint64_t>(d.q);
    // span / q + 1 overflows only for q = 1 over all 64-bit integers, which is all the bits.
    const uint64_t count = span / q + 1;
    const uint64_t k = count == 0 ? random.NextBits() : random.NextBelow(count);
    return fmt::format("{}", Add(d.low, k * q));
  }
  std::string operator()(const LogRandInt& d) const {
    // Uniform in the logarithm over [low, high) and rounded down, so that k has the odds of
    // [k, k + 1).
    const double value = std::floor(
        LogBetween(static_cast<double>(d.low), static_cast<double>(d.high), random.NextUnit()));
    if (value >= static_cast<double>(d.high - 1)) return fmt::format("{}", d.high - 1);
    return fmt::format("{}", std::max(d.low, static_cast<int64_t>(value)));
  }
  std::string operator()(const Normal& d) const {
    const double value = std::clamp(d.mean + d.sd * NextNormal(random), -kLargest, kLargest);
    return JsonFloat(std::clamp(RoundTo12Digits(value), -kLargest, kLargest));
  }
  std::string operator()(const LogNormal& d) const {
    constexpr double kSmallest = std::numeric_limits<double>::min();
    const double value =
        std::clamp(std::exp(d.mean + d.sd * NextNormal(random)), kSmallest, kLargest);
    return JsonFloat(std::clamp(RoundTo12Digits(value), kSmallest, kLargest));
  }
  std::string operator()(const Choice& d) const {
    return d.values[random.NextBelow(d.values.size())];
  }
  std::string operator()(const GridValues& /*d*/) const {
    RUNG_CHECK(!"drawn: a grid's values are taken in turn");
    return {};
  }
  std::string operator()(const Constant& d) const { return d.value; }
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

}  // namespace rung
