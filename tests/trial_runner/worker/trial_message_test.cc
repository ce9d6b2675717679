#include "trial_runner/worker/trial_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rung::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string ErrorOf(std::string_view line) {
  const TrialLine parsed = ParseTrialLine(line);
  const auto* bad = std::get_if<BadLine>(&parsed);
  return bad == nullptr ? "(accepted)" : bad->error;
}

ReportLine Report(std::string_view line) {
  const TrialLine parsed = ParseTrialLine(line);
  const auto* report = std::get_if<ReportLine>(&parsed);
  EXPECT_NE(report, nullptr) << ErrorOf(line);
  return report == nullptr ? ReportLine{} : *report;
}

TEST(TrialMessage, ReportHasStepValuesAndCount) {
  const ReportLine report =
      Report(R"({"report": {"step": 10, "metrics": {"acc": 0.81, "loss": 1}, "count": 32}})");
  EXPECT_EQ(report.step, 10);
  ASSERT_THAT(report.metrics, SizeIs(2));
  EXPECT_EQ(report.metrics[0].name, "acc");
  EXPECT_EQ(report.metrics[0].value, 0.81);
  EXPECT_EQ(report.metrics[1].value, 1.0);
  EXPECT_EQ(report.metrics[1].count, 32);
}

TEST(TrialMessage, CountIsOneUnlessSaid) {
  EXPECT_EQ(Report(R"({"report":{"step":1,"metrics":{"a":0}}})").metrics[0].count, 1);
}

TEST(TrialMessage, NonFiniteValuesAreStrings) {
  const ReportLine report =
      Report(R"({"report":{"step":1,"metrics":{"a":"nan","b":"inf","c":"-inf"}}})");
  EXPECT_TRUE(std::isnan(report.metrics[0].value));
  EXPECT_EQ(report.metrics[1].value, INFINITY);
  EXPECT_EQ(report.metrics[2].value, -INFINITY);
}

TEST(TrialMessage, CheckpointHasStepAndPath) {
  const TrialLine parsed = ParseTrialLine(R"({"checkpoint":{"step":10,"path":"step-10"}})");
  const auto& checkpoint = std::get<CheckpointLine>(parsed);
  EXPECT_EQ(checkpoint.step, 10);
  EXPECT_EQ(checkpoint.path, "step-10");
}

struct BadCase {
  const char* line;
  const char* error;
};

class TrialMessageErrors : public ::testing::TestWithParam<BadCase> {};

TEST_P(TrialMessageErrors, NameWhatWasFoundAndWhatIsAllowed) {
  EXPECT_THAT(ErrorOf(GetParam().line), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, TrialMessageErrors,
    ::testing::Values(
        BadCase{"", "not a JSON object: line 1, column 1: "},
        BadCase{"garbage", "not a JSON object: line 1, column 1: syntax error"},
        BadCase{R"({"report":)", "not a JSON object"}, BadCase{"\xff", "not a JSON object"},
        BadCase{"[1]", "line: must be an object, found [1]"},
        BadCase{"{}", "either 'report' or 'checkpoint'"},
        BadCase{R"({"reprot":{}})", "unknown key 'reprot'; did you mean 'report'?"},
        BadCase{R"({"report":{"step":1,"metric":{"a":1}}})", "did you mean 'metrics'?"},
        BadCase{R"({"report":{"step":1,"metrics":{"a":1},"epoch":2}})",
                "report: unknown key 'epoch' (allowed: step, metrics, count)"},
        BadCase{R"({"report":5})", "report: must be an object, found 5"},
        BadCase{R"({"report":{"metrics":{"a":1}}})", "'step' is missing"},
        BadCase{R"({"report":{"step":1}})", "'metrics' is missing"},
        BadCase{R"({"report":{"step":-1,"metrics":{"a":1}}})", "integer >= 1, found -1"},
        BadCase{R"({"report":{"step":0,"metrics":{"a":1}}})", "integer >= 1, found 0"},
        BadCase{R"({"checkpoint":{"step":0,"path":"x"}})", "integer >= 1, found 0"},
        BadCase{R"({"report":{"step":1.5,"metrics":{"a":1}}})", "found 1.5"},
        BadCase{R"({"report":{"step":10.0,"metrics":{"a":1}}})", "found 10.0"},
        BadCase{R"({"report":{"step":"1","metrics":{"a":1}}})", R"(found "1")"},
        BadCase{R"({"report":{"step":true,"metrics":{"a":1}}})", "found true"},
        BadCase{R"({"report":{"step":9223372036854775808,"metrics":{"a":1}}})",
                "found 9223372036854775808"},
        BadCase{R"({"report":{"step":1,"metrics":{}}})", "1 to 1000 values, found 0"},
        BadCase{R"({"report":{"step":1,"metrics":{"":1}}})", "1 to 256 bytes, found 0"},
        BadCase{R"({"report":{"step":1,"metrics":{"a\u0000b":1}}})",
                "report.metrics: a name must have no control character, found U+0000 after 'a'"},
        BadCase{R"({"report":{"step":1,"metrics":{"\u009b2J":1}}})", "found U+009B after ''"},
        BadCase{R"({"report":{"step":1,"metrics":{"a":"x"}}})", R"(found "x")"},
        BadCase{R"({"report":{"step":1,"metrics":{"a":"NaN"}}})", R"(found "NaN")"},
        BadCase{R"({"report":{"step":1,"metrics":{"a":null}}})", "found null"},
        BadCase{R"({"report":{"step":1,"metrics":{"a":true}}})", "found true"},
        BadCase{R"({"report":{"step":1,"metrics":{"a":NaN}}})", "not a JSON object"},
        BadCase{R"({"report":{"step":1,"metrics":{"a":1e999}}})",
                "not a JSON object: number overflow parsing '1e999'"},
        BadCase{R"({"report":{"step":1,"metrics":{"a":1},"count":0}})", "integer >= 1, found 0"},
        BadCase{R"({"report":{"step":1,"metrics":{"a":1,"a":2}}})", "stands twice"},
        BadCase{R"({"checkpoint":{"step":1,"path":5}})", "must be a string, found 5"},
        BadCase{R"({"checkpoint":{"step":1,"pth":"x"}})", "did you mean 'path'?"}));

TEST(TrialMessage, TooManyMetricsAndTooLongNamesAreRefused) {
  std::string metrics;
  for (int i = 0; i < 1001; ++i)
    metrics += (i == 0 ? "" : ",") + ("\"m" + std::to_string(i)) + "\":1";
  EXPECT_THAT(ErrorOf(R"({"report":{"step":1,"metrics":{)" + metrics + "}}}"),
              HasSubstr("found 1001"));
  EXPECT_THAT(ErrorOf(R"({"report":{"step":1,"metrics":{")" + std::string(257, 'n') + R"(":1}}})"),
              HasSubstr("found 257"));
}

TEST(TrialMessage, AnswersAreOneJsonObjectALine) {
  EXPECT_EQ(DecisionLine(Decision::kStop, true), R"({"decision":"stop"})");
  EXPECT_EQ(DecisionLine(Decision::kContinue, false), R"({"decision":"continue","durable":false})");
  EXPECT_EQ(StoredLine(), R"({"checkpoint":"stored"})");
  EXPECT_EQ(ErrorLine("a \"b\"\n"), R"({"error":"a \"b\"\n"})");
}

TEST(TrialMessage, NestingIsRefusedBeforeItCanFillTheStack) {
  for (const char* open : {"[", R"({"a":)"}) {
    std::string deep = R"({"report":)";
    for (int i = 0; i < 100'000; ++i) deep += open;
    EXPECT_THAT(ErrorOf(deep), HasSubstr("nested deeper than 8 levels"));
  }
}

TEST(TrialMessage, ErrorsAreUtf8WhateverTheLineHeld) {
  // The quote is cut at 80 bytes, in the middle of a character: U+FFFD stands for the half.
  std::string name = "xyz";
  for (int i = 0; i < 50; ++i) name += "\u2603";
  EXPECT_THAT(ErrorLine(ErrorOf("{\"" + name + "\":1}")), HasSubstr("\u2603\ufffd'"));
  EXPECT_THAT(ErrorLine(ErrorOf("\xff")), Not(HasSubstr("\xff")));
}

}  // namespace
}  // namespace rung::worker
