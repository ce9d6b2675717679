#include "search/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "search/value_list.h"

namespace rung {
namespace {

using ::testing::ElementsAre;

CounterRandom Stream(int32_t trial, std::string_view name = "p") {
  return CounterRandom({.seed = 42, .trial = {trial}, .redraw = 0, .name = name});
}

std::string Draw(const Domain& domain, int32_t trial) {
  CounterRandom random = Stream(trial);
  return SampleValue(domain, random);
}

double DrawNumber(const Domain& domain, int32_t trial) {
  return ParseJsonNumber(Draw(domain, trial)).value();
}

/// How often each text was drawn.
std::map<std::string, int> Counts(const Domain& domain, int draws) {
  std::map<std::string, int> counts;
  for (int trial = 0; trial < draws; ++trial) ++counts[Draw(domain, trial)];
  return counts;
}

/// Pearson's statistic against `odds`, which add up to 1.
double ChiSquare(const std::vector<int>& counts, const std::vector<double>& odds, int draws) {
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = odds[i] * draws;
    sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return sum;
}

/// The chi-square value that chance exceeds once in a million, by degrees of freedom.
const std::map<size_t, double> kLimit = {
    {1, 23.93}, {2, 27.63}, {3, 30.66}, {6, 38.26}, {19, 63.68}};

/// Expects `draws` of the domain to give exactly `texts`, in these odds.
void ExpectOdds(const Domain& domain, const std::vector<std::string>& texts,
                const std::vector<double>& odds) {
  constexpr int kDraws = 20'000;
  const std::map<std::string, int> counts = Counts(domain, kDraws);
  ASSERT_EQ(counts.size(), texts.size());
  std::vector<int> ordered;
  for (const std::string& text : texts) {
    ASSERT_EQ(counts.count(text), 1U) << text;
    ordered.push_back(counts.at(text));
  }
  EXPECT_LT(ChiSquare(ordered, odds, kDraws), kLimit.at(texts.size() - 1));
}

std::vector<double> Even(size_t n) { return std::vector<double>(n, 1.0 / static_cast<double>(n)); }

TEST(Sampler, QuantisedValuesHaveEqualOddsEndsIncluded) {
  ExpectOdds(QUniform{32, 96, 32}, {"32.0", "64.0", "96.0"}, Even(3));
  ExpectOdds(QRandInt{1, 10, 3}, {"1", "4", "7", "10"}, Even(4));
  ExpectOdds(QUniform{0.2, 0.8, 0.3}, {"0.2", "0.5", "0.8"}, Even(3));
  std::vector<std::string> by_fifty;  // 10, 60, …, 960
  for (int value = 10; value <= 960; value += 50) by_fifty.push_back(std::to_string(value) + ".0");
  ExpectOdds(QUniform{10, 1000, 50}, by_fifty, Even(20));
}

TEST(Sampler, IntegersAndChoicesHaveEqualOdds) {
  ExpectOdds(RandInt{-3, 4}, {"-3", "-2", "-1", "0", "1", "2", "3"}, Even(7));
  ExpectOdds(RandInt{5, 7}, {"5", "6"}, Even(2));
  ExpectOdds(Choice{{"16", "true", "\"a\""}}, {"16", "true", "\"a\""}, Even(3));
}

TEST(Sampler, LogIntegersHaveTheOddsOfTheirInterval) {
  std::vector<double> odds;  // k has [k, k + 1) of [1, 8)
  for (int k = 1; k < 8; ++k) odds.push_back(std::log((k + 1.0) / k) / std::log(8.0));
  ExpectOdds(LogRandInt{1, 8}, {"1", "2", "3", "4", "5", "6", "7"}, odds);
}

TEST(Sampler, QuantisedLogValuesHaveTheOddsOfWhatRoundsToThem) {
  const double all = std::log(4.0);  // of 1 … 4; 1.5, 2.5 and 3.5 are the borders
  ExpectOdds(QLogUniform{1, 4, 1}, {"1.0", "2.0", "3.0", "4.0"},
             {std::log(1.5) / all, std::log(2.5 / 1.5) / all, std::log(3.5 / 2.5) / all,
              std::log(4 / 3.5) / all});
}

/// Expects that `cdf` maps the domain's draws evenly onto 20 bins of [0, 1].
template <typename Cdf>
void ExpectEven(const Domain& domain, Cdf cdf) {
  constexpr int kDraws = 20'000;
  std::vector<int> bins(20);
  for (int trial = 0; trial < kDraws; ++trial) {
    const double at = cdf(DrawNumber(domain, trial));
    ++bins.at(std::min<size_t>(19, static_cast<size_t>(at * 20)));
  }
  EXPECT_LT(ChiSquare(bins, Even(20), kDraws), kLimit.at(19));
}

TEST(Sampler, ContinuousFormsFollowTheirDistribution) {
  ExpectEven(Uniform{-2, 6}, [](double x) { return (x + 2) / 8; });
  ExpectEven(LogUniform{1e-6, 1e-2}, [](double x) { return std::log(x / 1e-6) / std::log(1e4); });
  const auto phi = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
  ExpectEven(Normal{3, 0.5}, [&](double x) { return phi((x - 3) / 0.5); });
  ExpectEven(LogNormal{-1, 2}, [&](double x) { return phi((std::log(x) + 1) / 2); });
}

/// A finite double of any magnitude.
double AnyDouble(CounterRandom& random) {
  while (true) {
    const auto value = std::bit_cast<double>(random.NextBits());
    if (std::isfinite(value)) return value;
  }
}

TEST(Sampler, FloatsOfAnyMagnitudeNeverLeaveTheirRange) {
  CounterRandom random = Stream(0, "ranges");
  for (int i = 0; i < 60'000; ++i) {
    double low = AnyDouble(random);
    double high = i % 2 == 0 ? AnyDouble(random) : std::nextafter(low, 1.7e308);
    if (low > high) std::swap(low, high);
    if (low == high) continue;
    const double uniform = DrawNumber(Uniform{low, high}, i);
    ASSERT_TRUE(uniform >= low && uniform <= high) << low << ' ' << high << ' ' << uniform;
    double log_low = std::fabs(low);
    double log_high = std::fabs(high);
    if (log_low > log_high) std::swap(log_low, log_high);
    if (log_low == 0 || log_low == log_high) continue;
    const double log_uniform = DrawNumber(LogUniform{log_low, log_high}, i);
    ASSERT_TRUE(log_uniform >= log_low && log_uniform <= log_high)
        << log_low << ' ' << log_high << ' ' << log_uniform;
  }
}

TEST(Sampler, TenMillionDrawsOverEveryBinadeStayInTheirRange) {
  // Sanitizers make each draw about 20 times dearer: there every 20th fraction.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kFractions = 30;
#else
  constexpr int kFractions = 612;
#endif
  CounterRandom random = Stream(0, "binades");
  for (int exponent = -1022; exponent <= 1023; ++exponent) {
    const double low = std::ldexp(1 + random.NextUnit(), exponent);
    const double largest = std::numeric_limits<double>::max();
    // The next number, half a binade up, a few decades up, and the largest of all.
    for (const double high : {std::nextafter(low, largest), low + low / 2, low * 1234.5, largest}) {
      if (!(high > low && std::isfinite(high))) continue;
      for (int i = 0; i < kFractions; ++i) {
        const double fraction = i == 0 ? 0 : i == 1 ? 1 - 0x1p-53 : random.NextUnit();
        const double uniform = Between(low, high, fraction);
        const double logarithmic = LogBetween(low, high, fraction);
        const double negative = Between(-high, -low, fraction);
        ASSERT_TRUE(uniform >= low && uniform <= high) << low << ' ' << high << ' ' << fraction;
        ASSERT_TRUE(logarithmic >= low && logarithmic <= high)
            << low << ' ' << high << ' ' << fraction;
        ASSERT_TRUE(negative >= -high && negative <= -low) << low << ' ' << high << ' ' << fraction;
      }
    }
  }
}

TEST(Sampler, OrdinaryRangesAreNeverLeftInManyDraws) {
  for (int i = 0; i < 100'000; ++i) {
    // exp(log(0.1)) is greater than 0.1.
    const double x = DrawNumber(LogUniform{0.001, 0.1}, i);
    ASSERT_TRUE(x >= 0.001 && x <= 0.1);
    const double y = DrawNumber(QLogUniform{0.1, 0.9, 0.1}, i);
    ASSERT_TRUE(y >= 0.1 && y <= 0.9);
  }
}

TEST(Sampler, IntegersOfAnyRangeNeverLeaveIt) {
  CounterRandom random = Stream(0, "integers");
  for (int i = 0; i < 60'000; ++i) {
    auto low = static_cast<int64_t>(random.NextBits()) >> random.NextBelow(64);
    auto high = static_cast<int64_t>(random.NextBits()) >> random.NextBelow(64);
    if (low > high) std::swap(low, high);
    if (low == high) continue;
    const int64_t value = ParseJsonInteger(Draw(RandInt{low, high}, i)).value();
    ASSERT_TRUE(value >= low && value < high) << low << ' ' << high << ' ' << value;
    const int64_t q = 1 + static_cast<int64_t>(random.NextBits() >> 1U >> random.NextBelow(63));
    const int64_t stepped = ParseJsonInteger(Draw(QRandInt{low, high, q}, i)).value();
    ASSERT_TRUE(stepped >= low && stepped <= high) << low << ' ' << high << ' ' << q;
    ASSERT_EQ(
        (static_cast<uint64_t>(stepped) - static_cast<uint64_t>(low)) % static_cast<uint64_t>(q),
        0U);
    if (low < 1) continue;
    const int64_t logged = ParseJsonInteger(Draw(LogRandInt{low, high}, i)).value();
    ASSERT_TRUE(logged >= low && logged < high) << low << ' ' << high << ' ' << logged;
  }
}

TEST(Sampler, ExtremeNormalsStayFinite) {
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(std::isfinite(DrawNumber(LogNormal{700, 100}, i)));
    EXPECT_GT(DrawNumber(LogNormal{-700, 100}, i), 0);
    EXPECT_TRUE(std::isfinite(DrawNumber(Normal{1.7e308, 1e308}, i)));
  }
}

TEST(Sampler, FloatsHaveAtMostTwelveDigits) {
  EXPECT_EQ(RoundTo12Digits(0.1 + 0.2), 0.3);
  EXPECT_EQ(RoundTo12Digits(123456789012.4), 123456789012.0);
  EXPECT_EQ(RoundTo12Digits(-0.0), 0.0);
  EXPECT_EQ(RoundTo12Digits(5e-324), 5e-324);
  for (int i = 0; i < 1000; ++i) {
    std::string digits = Draw(Uniform{0.1, 0.9}, i);
    EXPECT_LE(digits.size(), 14U) << digits;  // "0." and twelve
  }
}

TEST(Sampler, EndsOfARangeAreExact) {
  EXPECT_EQ(LogBetween(0.1, 1, 0), 0.1);
  EXPECT_EQ(LogBetween(0.001, 0.1, 1), 0.1);
  EXPECT_EQ(Between(0.1, 0.7, 1), 0.7);
}

TEST(Sampler, ValueAtInvertsTheDistributionFunction) {
  constexpr double kLast = 1 - 0x1p-53;
  const auto at = [](const Domain& domain) {
    return std::vector{ValueAt(domain, 0), ValueAt(domain, 0.5), ValueAt(domain, kLast)};
  };
  EXPECT_THAT(at(Uniform{-2, 6}), ElementsAre("-2.0", "2.0", "6.0"));  // 12 digits of 6 − 1e-15
  EXPECT_THAT(at(LogUniform{1e-6, 1e-2}), ElementsAre("1e-06", "1e-04", "0.01"));
  EXPECT_THAT(at(QUniform{0.2, 0.8, 0.3}), ElementsAre("0.2", "0.5", "0.8"));
  EXPECT_THAT(at(QLogUniform{1, 100, 1}), ElementsAre("1.0", "10.0", "100.0"));
  EXPECT_THAT(at(RandInt{-3, 4}), ElementsAre("-3", "0", "3"));
  EXPECT_THAT(at(QRandInt{1, 10, 3}), ElementsAre("1", "7", "10"));
  EXPECT_THAT(at(LogRandInt{1, 1000}), ElementsAre("1", "31", "999"));
  EXPECT_THAT(at(Choice{{"16", "true", "null"}}), ElementsAre("16", "true", "null"));
  EXPECT_THAT(at(Constant{"[1]"}), ElementsAre("[1]", "[1]", "[1]"));
  // 8.29236107581 standard deviations: half a step of 2^-53 from the ends.
  EXPECT_THAT(at(Normal{3, 1}), ElementsAre("-5.29236107581", "3.0", "11.2923610758"));
  EXPECT_EQ(ValueAt(LogNormal{0, 1}, 0.5), "1.0");
}

TEST(Sampler, ValueAtReachesTheEndsOfTheWidestIntegerRanges) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ValueAt(RandInt{kMin, kMax}, 0), "-9223372036854775808");
  EXPECT_EQ(ValueAt(RandInt{kMin, kMax}, 0.5), "-1");  // ⌊(2^64 − 1) / 2⌋ above the lowest
  EXPECT_EQ(ValueAt(QRandInt{kMin, kMax, 1}, 0.5), "0");
}

TEST(ValueList, NamesTheValuesOfEveryFiniteForm) {
  const auto texts = [](const Domain& domain) {
    const std::optional<ValueList> list = ValueList::Of(domain);
    std::vector<std::string> all;
    for (uint64_t i = 0; i < list->count(); ++i) {
      all.push_back(list->At(i));
      EXPECT_EQ(list->IndexOf(all.back()), i);
    }
    return all;
  };
  EXPECT_THAT(texts(RandInt{2, 5}), ElementsAre("2", "3", "4"));
  EXPECT_THAT(texts(LogRandInt{2, 4}), ElementsAre("2", "3"));
  EXPECT_THAT(texts(QRandInt{1, 10, 3}), ElementsAre("1", "4", "7", "10"));
  EXPECT_THAT(texts(QLogUniform{0.1, 0.4, 0.1}), ElementsAre("0.1", "0.2", "0.3", "0.4"));
  EXPECT_THAT(texts(Choice{{"1", "1.0", "1", "[1,2]"}}), ElementsAre("1", "1.0", "[1,2]"));
  EXPECT_FALSE(ValueList::Of(Uniform{0, 1}).has_value());
  EXPECT_FALSE(ValueList::Of(Normal{0, 1}).has_value());
}

TEST(ValueList, ACopyFindsItsTextsWhenTheOriginalIsGone) {
  std::optional<ValueList> list = ValueList::FromTexts({"1", "\"a\""});
  const ValueList copy = *list;
  list.reset();
  EXPECT_EQ(copy.IndexOf("\"a\""), 1U);
  EXPECT_EQ(copy.At(1), "\"a\"");
  EXPECT_EQ(copy.IndexOf("2"), std::nullopt);
}

TEST(ValueList, HoldsTheWidestIntegerRange) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::optional<ValueList> list = ValueList::Of(RandInt{kMin, kMax});
  EXPECT_EQ(list->count(), ~uint64_t{0});
  EXPECT_EQ(list->At(0), "-9223372036854775808");
  EXPECT_EQ(list->IndexOf("9223372036854775806"), ~uint64_t{0} - 1);
  EXPECT_EQ(list->IndexOf("9223372036854775807"), std::nullopt);
}

}  // namespace
}  // namespace rung
