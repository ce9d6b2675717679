#include "core/metric_name.h"

#include <gtest/gtest.h>

#include <string>

namespace rung {
namespace {

using std::string_literals::operator""s;

TEST(MetricName, NamesOfPrintableTextAreTaken) {
  for (const std::string& name : {"loss"s, "val/acc@1 (%)"s, "Verl\u00fcste"s, "\u4e2d"s,
                                  "a\u00a0b"s, std::string(kMetricNameBytesMax, 'x')}) {
    EXPECT_TRUE(CheckMetricName(name).ok()) << name;
  }
}

TEST(MetricName, ControlCharactersInNamesAreRefusedWithTheirPlace) {
  EXPECT_EQ(CheckMetricName("lo\0ss"s).message(),
            "a name must have no control character, found U+0000 after 'lo'");
  EXPECT_EQ(CheckMetricName("\nloss").message(),
            "a name must have no control character, found U+000A after ''");
  EXPECT_EQ(CheckMetricName("loss\x7f").message(),
            "a name must have no control character, found U+007F after 'loss'");
  EXPECT_EQ(CheckMetricName("\u00e9\u009b").message(),
            "a name must have no control character, found U+009B after '\u00e9'");
}

TEST(MetricName, NamesAreNeitherEmptyNorLong) {
  EXPECT_EQ(CheckMetricName("").message(), "a name must have 1 to 256 bytes, found 0");
  const absl::Status status = CheckMetricName(std::string(257, 'x'));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "a name must have 1 to 256 bytes, found 257");
}

}  // namespace
}  // namespace rung
