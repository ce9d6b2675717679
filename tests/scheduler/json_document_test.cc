#include "scheduler/json_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<Json> json = ParseJsonDocument(text);
  return json.ok() ? "accepted" : std::string(json.status().message());
}

TEST(JsonDocument, KeepsTheOrderOfKeysAndTheTypesOfNumbers) {
  const std::string text = R"({"z":16,"a":16.0,"m":[true,null,"x\n",{"q":1e-06}],"e":{}})";
  EXPECT_EQ(CanonicalJson(*ParseJsonDocument(text)),
            R"({"z":16,"a":16.0,"m":[true,null,"x\n",{"q":1e-06}],"e":{}})");
}

TEST(JsonDocument, TextThatIsNotJsonIsNamedByLineAndColumn) {
  EXPECT_THAT(ErrorOf("{\n  \"a\": 1,\n  \"b\": }\n"),
              StartsWith("the document is not JSON: line 3, column 8: syntax error"));
  EXPECT_THAT(ErrorOf("{\"a\": NaN}"), StartsWith("the document is not JSON: line 1, column 7:"));
  EXPECT_THAT(ErrorOf(""), StartsWith("the document is not JSON: line 1, column 1:"));
  EXPECT_THAT(ErrorOf("{\"a\": 1} x"), StartsWith("the document is not JSON: line 1, column 10:"));
  EXPECT_THAT(ErrorOf("[1e999]"), HasSubstr("number overflow"));
  EXPECT_THAT(ErrorOf("[\"\xff\"]"), HasSubstr("invalid string"));
}

TEST(JsonDocument, RefusesAKeyGivenTwiceWithItsPath) {
  EXPECT_EQ(ErrorOf(R"({"a": {"b": [0, {"c": 1, "c": 1}]}})"),
            "a.b[1].c: key given twice in one object, allowed once");
  EXPECT_EQ(ErrorOf(R"({"a": 1, "b": 2, "a": 3})"),
            "a: key given twice in one object, allowed once");
  EXPECT_EQ(ErrorOf(R"([{"a": 1}, {"a": 1}])"), "accepted");
}

TEST(JsonDocument, RefusesMoreBytesOrNestingThanTheLimits) {
  const std::string deep(kDocumentDepthMax, '[');
  EXPECT_EQ(ErrorOf(deep + std::string(kDocumentDepthMax, ']')), "accepted");
  EXPECT_THAT(ErrorOf("[" + deep), HasSubstr("nested deeper than 32 levels"));
  EXPECT_EQ(ErrorOf(std::string(kDocumentBytesMax + 1, ' ')),
            "the document: must be at most 1048576 bytes, found 1048577");
}

}  // namespace
}  // namespace rung
