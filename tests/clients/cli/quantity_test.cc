#include "clients/cli/quantity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace rung::cli {
namespace {

TEST(MetricText, KeepsFourSignificantDigits) {
  EXPECT_EQ(MetricText(0.753312), "0.7533");
  EXPECT_EQ(MetricText(0.71), "0.71");
  EXPECT_EQ(MetricText(-12.34567), "-12.35");
  EXPECT_EQ(MetricText(3.2123e-5), "3.212e-05");
  EXPECT_EQ(MetricText(0), "0");
}

TEST(MetricText, WritesWholeThousandsInFull) {
  EXPECT_EQ(MetricText(123456), "123456");
  EXPECT_EQ(MetricText(2e9), "2e+09");
}

TEST(MetricText, NamesNonFiniteValues) {
  EXPECT_EQ(MetricText(std::nan("")), "nan");
  EXPECT_EQ(MetricText(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(MetricText(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(ComparedMetricTexts, KeepsFourDigitsUnlessTheyHideADifference) {
  using Texts = std::pair<std::string, std::string>;
  EXPECT_EQ(ComparedMetricTexts(0.71234, 0.7533), Texts("0.7123", "0.7533"));
  EXPECT_EQ(ComparedMetricTexts(0.69314, 0.69312), Texts("0.69314", "0.69312"));
  EXPECT_EQ(ComparedMetricTexts(0.1 + 0.2, 0.3), Texts("0.30000000000000004", "0.3"));
  EXPECT_EQ(ComparedMetricTexts(1234.25, 1234.375), Texts("1234.25", "1234.375"));
  EXPECT_EQ(ComparedMetricTexts(0.69314, 0.69314), Texts("0.6931", "0.6931"));
  EXPECT_EQ(ComparedMetricTexts(std::nan(""), std::nan("")), Texts("nan", "nan"));
}

TEST(DurationText, UsesTheTwoLargestUnits) {
  EXPECT_EQ(DurationText(0.42), "0.4 s");
  EXPECT_EQ(DurationText(12.4), "12 s");
  EXPECT_EQ(DurationText(59.7), "1 min");
  EXPECT_EQ(DurationText(250), "4 min 10 s");
  EXPECT_EQ(DurationText(4320), "1 h 12 min");
  EXPECT_EQ(DurationText(3599.6), "1 h");
  EXPECT_EQ(DurationText(183600), "2 d 3 h");
}

TEST(DurationText, ReadsSpansOfDifferingClocksAsZero) {
  EXPECT_EQ(DurationText(-3), "0 s");
  EXPECT_EQ(DurationText(std::nan("")), "0 s");
}

TEST(CountText, SeparatesThousands) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1234567), "1,234,567");
  EXPECT_EQ(CountText(-1000), "-1,000");
}

TEST(CountText, SaysOneAsPeopleDo) {
  EXPECT_EQ(CountText(0, "trial"), "0 trials");
  EXPECT_EQ(CountText(1, "trial"), "1 trial");
  EXPECT_EQ(CountText(12345, "trial"), "12,345 trials");
}

TEST(MoneyText, ShowsCentsAndSmallSumsExactly) {
  EXPECT_EQ(MoneyText(1234.5), "$1,234.50");
  EXPECT_EQ(MoneyText(0.01234), "$0.01234");
  EXPECT_EQ(MoneyText(0.16919), "$0.1692");
  EXPECT_EQ(MoneyText(0.6), "$0.60");
  EXPECT_EQ(MoneyText(0.999), "$1.00");
  EXPECT_EQ(MoneyText(-3), "-$3.00");
  EXPECT_EQ(MoneyText(0), "$0");
}

TEST(BytesText, UsesBinaryUnits) {
  EXPECT_EQ(BytesText(17), "17 B");
  EXPECT_EQ(BytesText(int64_t{8} << 30), "8.0 GiB");
  EXPECT_EQ(BytesText(int64_t{512} << 20), "512 MiB");
}

TEST(ParamsText, ShowsNamesAndShortValues) {
  EXPECT_EQ(ParamsText(R"({"lr":3.212345e-05,"batch_size":32,"opt":"adam","amp":true})"),
            "lr=3.212e-05 batch_size=32 opt=adam amp=true");
  EXPECT_EQ(ParamsText("{}"), "");
  EXPECT_EQ(ParamsText("no json"), "no json");
}

TEST(Printable, RemovesWhatDrivesATerminal) {
  EXPECT_EQ(Printable("a\x1b[31mb\nc\x7f"), "a?[31mb?c?");
  EXPECT_EQ(Printable("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "?31m");  // U+009B is CSI, an escape of its own
}

}  // namespace
}  // namespace rung::cli
