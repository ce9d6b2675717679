#include "core/json_syntax.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

constexpr const char* kWhy =
    "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing";

TEST(JsonSyntaxProblem, NamesTheLineAndTheColumnOfTheLastByteRead) {
  EXPECT_EQ(JsonSyntaxProblem("x", 1, kWhy), "line 1, column 1: syntax error while parsing");
  // The sixth byte is the second one of line 2.
  EXPECT_EQ(JsonSyntaxProblem("[1,\n x]", 6, kWhy), "line 2, column 2: syntax error while parsing");
  EXPECT_EQ(JsonSyntaxProblem("", 0, kWhy), "line 1, column 1: syntax error while parsing");
}

TEST(JsonSyntaxProblem, NamesNoPlaceWhereNoneIsKnown) {
  EXPECT_EQ(JsonSyntaxProblem("[1e999]", std::nullopt,
                              "[json.exception.out_of_range.406] number overflow parsing '1e999'"),
            "number overflow parsing '1e999'");
}

}  // namespace
}  // namespace rung
