#include "replay/section_text.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

TEST(SectionText, PutsTokensTogetherAgain) {
  SectionText section;
  section.Open('{');
  section.Key("a\"");
  section.Open('[');
  section.Scalar("1");
  section.Scalar("\"x\"");
  section.Open('{');
  section.Close('}');
  section.Close(']');
  section.Key("b");
  section.Scalar("null");
  section.Close('}');
  EXPECT_EQ(section.text(), R"({"a\"":[1,"x",{}],"b":null})");
}

TEST(SectionText, ASingleValueIsAText) {
  SectionText section;
  section.Scalar("7");
  EXPECT_EQ(section.text(), "7");
}

}  // namespace
}  // namespace rung
