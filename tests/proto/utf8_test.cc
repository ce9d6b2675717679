#include "proto/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace rung {
namespace {

TEST(Utf8, WellFormedTextIsTaken) {
  // One to four bytes, and the last characters before and after the surrogates.
  EXPECT_EQ(FirstNonUtf8("a \xC3\xA9 \xE2\x98\x83 \xF0\x9F\x98\x80 \xED\x9F\xBF \xEE\x80\x80"),
            std::nullopt);
  EXPECT_EQ(FirstNonUtf8(""), std::nullopt);
}

TEST(Utf8, TheFirstBadByteIsFound) {
  EXPECT_EQ(FirstNonUtf8("ab\xFF"), 2u);
  EXPECT_EQ(FirstNonUtf8("ab\x80"), 2u);
  EXPECT_EQ(FirstNonUtf8("\xE2\x98"), 0u) << "cut in the middle";
  EXPECT_EQ(FirstNonUtf8("x\xE2\x98y"), 1u);
  EXPECT_EQ(FirstNonUtf8("\xC0\xAF"), 0u) << "overlong";
  EXPECT_EQ(FirstNonUtf8("\xED\xA0\x80"), 0u) << "a surrogate";
  EXPECT_EQ(FirstNonUtf8("\xF4\x90\x80\x80"), 0u) << "above U+10FFFF";
}

TEST(Utf8, EachBadByteIsReplaced) {
  EXPECT_EQ(ValidUtf8("caf\xc3\xa9 \"x\"\n"), "caf\xc3\xa9 \"x\"\n");
  EXPECT_EQ(ValidUtf8("a\xff\xe2\x98"), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Utf8, APathThatIsNotIsNamedWithItsByte) {
  EXPECT_TRUE(CheckPathIsUtf8("/home/ren\xc3\xa9").ok());
  EXPECT_EQ(
      CheckPathIsUtf8("/home/ren\xe9/x").message(),
      "the path '/home/ren\xef\xbf\xbd/x' is not UTF-8: byte 0xe9 after '/home/ren'; choose a "
      "path that is");
}

}  // namespace
}  // namespace rung
