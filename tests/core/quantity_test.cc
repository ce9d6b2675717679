#include "core/quantity.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

using std::chrono::milliseconds;

TEST(Quantity, ReadsDurations) {
  EXPECT_EQ(*ParseDuration("500ms"), milliseconds(500));
  EXPECT_EQ(*ParseDuration("30s"), milliseconds(30'000));
  EXPECT_EQ(*ParseDuration("1.5h"), milliseconds(5'400'000));
  EXPECT_EQ(*ParseDuration("2d"), milliseconds(172'800'000));
  EXPECT_EQ(*ParseDuration("0s"), milliseconds(0));
}

TEST(Quantity, RefusesWhatIsNoDuration) {
  for (const char* text : {"", "30", "s", "-1s", "-0s", "30 s", "1e3s", "infs", "nans", "30S",
                           "1h30m", "10001d", "1e999s", "0x1s"}) {
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
  }
  EXPECT_EQ(ParseDuration("30").status().message(),
            "must be a duration such as \"500ms\", \"30s\", \"10m\" or \"4h\", at most \"10000d\", "
            "found \"30\"");
}

TEST(Quantity, ReadsSizes) {
  EXPECT_EQ(*ParseSize("8GiB"), int64_t{8} << 30);
  EXPECT_EQ(*ParseSize("500MB"), 500'000'000);
  EXPECT_EQ(*ParseSize("1.5KiB"), 1536);
  EXPECT_EQ(*ParseSize("0B"), 0);
}

TEST(Quantity, RefusesWhatIsNoSize) {
  for (const char* text : {"", "8", "8G", "-1B", "8gib", "8 GiB", "2000000TiB"}) {
    EXPECT_FALSE(ParseSize(text).ok()) << text;
  }
}

}  // namespace
}  // namespace rung
