#include "trial_runner/launch/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Configuration Parsed(std::string_view json) { return ParseConfiguration(json).value(); }

TEST(CommandLine, ValuesKeepTheirTextDigitByDigit) {
  const Configuration configuration =
      Parsed(R"({"lr":1.00e-05, "n":16,"big":12345678901234567890,"on":true,"none":null})");
  EXPECT_THAT(configuration.parameters,
              ElementsAre(Parameter{"lr", "1.00e-05"}, Parameter{"n", "16"},
                          Parameter{"big", "12345678901234567890"}, Parameter{"on", "true"},
                          Parameter{"none", "null"}));
}

TEST(CommandLine, StringsAreRawAndOtherValuesAreJson) {
  const Configuration configuration =
      Parsed(R"({"opt":"a \"b\"\\ü","sizes":[1, {"x":"}"}],"lr":0.001})");
  EXPECT_THAT(*ExpandCommand({"train", "--opt={opt}", "{sizes}", "{lr}{lr}"}, configuration),
              ElementsAre("train", "--opt=a \"b\"\\ü", R"([1, {"x":"}"}])", "0.0010.001"));
}

TEST(CommandLine, DoubledBracesAreBraces) {
  EXPECT_THAT(*ExpandCommand({R"({{"lr": {lr}}})", "}}", "a}b"}, Parsed(R"({"lr":1})")),
              ElementsAre(R"({"lr": 1})", "}", "a}b"));
}

TEST(CommandLine, AbsentParameterIsEmpty) {
  EXPECT_THAT(*ExpandCommand({"--momentum={momentum}"}, Parsed("{}")), ElementsAre("--momentum="));
}

TEST(CommandLine, ReplacedTextIsNotReplacedAgain) {
  EXPECT_THAT(*ExpandCommand({"{a}"}, Parsed(R"({"a":"{b}","b":"x"})")), ElementsAre("{b}"));
}

TEST(CommandLine, OpenBraceWithoutItsEndIsRefusedWithItsPlace) {
  const auto expanded = ExpandCommand({"x", "--a={lr"}, Parsed("{}"));
  EXPECT_EQ(expanded.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(expanded.status().message(), HasSubstr("trial.command[1]"));
}

TEST(CommandLine, ParametersThatAreNoObjectAreRefused) {
  EXPECT_FALSE(ParseConfiguration("[1]").ok());
  EXPECT_FALSE(ParseConfiguration("{").ok());
}

}  // namespace
}  // namespace rung
