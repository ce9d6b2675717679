#include "replay/trace_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "replay/trace_json.h"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using TestJson = nlohmann::json;

/// What a trace gives: its lines, and why it was refused.
struct Result {
  std::vector<std::string> lines;
  std::string refusal;
};

Result Replayed(const std::string& text) {
  Result result;
  const absl::StatusOr<Trace> trace = ReadTrace(text);
  if (!trace.ok()) return {{}, std::string(trace.status().message())};
  std::string all;
  const auto comparison = RunTrace(*trace, [&](std::string_view lines) { all += lines; });
  if (!comparison.ok()) result.refusal = std::string(comparison.status().message());
  for (size_t end = 0; (end = all.find('\n')) != all.npos; all.erase(0, end + 1)) {
    result.lines.push_back(all.substr(0, end));
  }
  return result;
}

struct Setting {
  std::string more = {};  ///< of the asha object: `, "variant": …`
  std::string goal = "maximize";
  int trials = 10;
};

std::string TraceOf(const Setting& setting, const std::string& events) {
  return fmt::format(
      R"({{"goal": "{}", "scheduler": {{"asha": {{"max_t": 100, "grace_period": 10, )"
      R"("reduction_factor": 3{}}}}}, "trials": {}, "events": [{}]}})",
      setting.goal, setting.more, setting.trials, events);
}

/// Reports of trials 1, 2, … at `step`; nothing where the value is 0.
std::string Reports(Steps step, const std::vector<std::string>& values) {
  std::string events;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == "0") continue;
    events += fmt::format(R"({}{{"report": {{"trial": {}, "step": {}, "value": {}}}}})",
                          events.empty() ? "" : ", ", i + 1, step, values[i]);
  }
  return events;
}

/// The member `key` of each line.
std::vector<std::string> Column(const Result& result, const std::string& key) {
  EXPECT_EQ(result.refusal, "");
  std::vector<std::string> values;
  for (const std::string& line : result.lines) {
    const TestJson value = TestJson::parse(line).at(key);
    values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return values;
}

const std::vector<std::string> kNine{"0.62", "0.55", "0.71", "0.68", "0.60",
                                     "0.74", "0.66", "0.74", "0.70"};

TEST(TraceRun, ALineIsWhatTheInterfaceSays) {
  const Result result =
      Replayed(TraceOf({}, Reports(10, {"0.62", "0.55", "\"nan\""}) +
                               R"(, {"report": {"trial": 1, "step": 11, "value": 1}},
                                               {"free": true},
                                               {"exit": {"trial": 1, "state": "lost"}},
                                               {"free": true}, {"free": true})"));
  EXPECT_EQ(result.refusal, "");
  EXPECT_THAT(
      result.lines,
      ElementsAre(R"({"trial": 1, "step": 10, "decision": "continue")"
                  R"(, "reason": "no_rivals", "level": 10, "cutoff": null, "n_before": 0})",
                  R"({"trial": 2, "step": 10, "decision": "stop")"
                  R"(, "reason": "below_cutoff", "level": 10, "cutoff": 0.62, "n_before": 1})",
                  R"({"trial": 3, "step": 10, "decision": "stop")"
                  R"(, "reason": "non_finite", "level": 10, "cutoff": null, "n_before": 2})",
                  R"({"trial": 1, "step": 11, "decision": "continue")"
                  R"(, "reason": null, "level": null, "cutoff": null, "n_before": null})",
                  R"({"start": 0})", R"({"trial": 1, "state": "queued"})",
                  R"({"resume": 1, "from": 0})", R"({"start": 4})"));
}

TEST(TraceRun, TheWorkedExampleOfStopping) {  // EARLY_STOPPING.md §7
  const Result quantile = Replayed(TraceOf({}, Reports(10, kNine)));
  EXPECT_THAT(Column(quantile, "decision"),
              ElementsAre("continue", "stop", "continue", "continue", "stop", "continue", "stop",
                          "continue", "continue"));
  EXPECT_EQ(Column(quantile, "reason").back(), "equal_to_cutoff");
  std::vector<std::string> cutoffs = Column(quantile, "cutoff");
  for (std::string& cutoff : cutoffs) {
    if (cutoff != "null") cutoff = fmt::format("{:.4f}", std::stod(cutoff));
  }
  EXPECT_THAT(cutoffs, ElementsAre("null", "0.6200", "0.5967", "0.6500", "0.6800", "0.6600",
                                   "0.6900", "0.6800", "0.7000"));
  EXPECT_THAT(
      Column(Replayed(TraceOf({.more = R"(, "cut": "top")"}, Reports(10, kNine))), "decision"),
      ElementsAre("continue", "stop", "continue", "stop", "stop", "continue", "stop", "continue",
                  "stop"));
}

TEST(TraceRun, TheWorkedExampleOfPromotion) {
  const Result result =
      Replayed(TraceOf({.more = R"(, "variant": "promotion")"}, Reports(10, kNine)));
  EXPECT_THAT(Column(result, "decision"),
              ElementsAre("pause", "pause", "continue", "pause", "pause", "continue", "pause",
                          "continue", "pause"));
  EXPECT_EQ(Column(result, "reason")[2], "promoted_on_arrival");
}

TEST(TraceRun, FirstArrivalWinsOnlyWhereNobodyComesLater) {  // cases.md 1
  const std::string events =
      Reports(10, kNine) + ", " +
      Reports(30, {"0.70", "0", "0.78", "0.74", "0", "0.80", "0", "0.79", "0.75"}) + ", " +
      Reports(90, {"0.72", "0", "0.83", "0", "0", "0.86", "0", "0.84"});
  // In stopping trial 1 is the first at every level, and its record says so.
  const Result stopping = Replayed(TraceOf({}, events));
  const auto reasons = Column(stopping, "reason");
  EXPECT_THAT((std::vector<std::string>{reasons[0], reasons[9], reasons[15]}),
              ::testing::Each("no_rivals"));
  // With min_rivals 3 the first three of a level all say that they had too few.
  const auto few =
      Column(Replayed(TraceOf({.more = R"(, "min_rivals": 3)"}, Reports(10, kNine))), "reason");
  EXPECT_THAT((std::vector<std::string>(few.begin(), few.begin() + 3)),
              ElementsAre("no_rivals", "few_rivals", "few_rivals"));
  // In promotion the first ⌊n/3⌋ go on: 3, 6 and 8, and never trial 1, which waits to the end.
  const Result promotion =
      Replayed(TraceOf({.more = R"(, "variant": "promotion")"},
                       Reports(10, kNine) + R"(, {"free": true}, {"free": true}, )" +
                           Reports(30, {"0", "0", "0.78", "0", "0", "0.80", "0", "0.79"})));
  EXPECT_EQ(promotion.lines[9], R"({"start": 0})");
  EXPECT_EQ(promotion.lines[10], R"({"idle": true})");
  EXPECT_EQ(promotion.refusal, "");
}

TEST(TraceRun, DecisionsFallExactlyAtTheLevels) {  // cases.md 2
  std::string events;
  for (int step = 1; step <= 9; ++step) {
    events += fmt::format(R"({}{{"report": {{"trial": 0, "step": {}, "value": 1}}}})",
                          step == 1 ? "" : ", ", step);
  }
  const Result result = Replayed(
      R"({"goal": "maximize", "trials": 1, "scheduler": {"asha": {"max_t": 9, "grace_period": 2,
             "reduction_factor": 2}}, "events": [)" +
      events + "]}");
  EXPECT_THAT(Column(result, "level"),
              ElementsAre("null", "2", "null", "4", "null", "null", "null", "8", "null"));
  EXPECT_EQ(Column(result, "reason").back(), "max_t");
}

TEST(TraceRun, TiesGoByTheTrialsNumberInPromotionAndGoOnInStopping) {  // cases.md 5
  const std::vector<std::string> six(6, "0.5");
  EXPECT_THAT(Column(Replayed(TraceOf({}, Reports(10, six))), "decision"),
              ::testing::Each("continue"));
  // Trial 1 waits until the third arrival makes it the first of 3 div 3; trial 2 is the second of
  // 6 div 3; then number 0 is the only one left.
  const Result promotion =
      Replayed(TraceOf({.more = R"(, "variant": "promotion")", .trials = 7},
                       Reports(10, six) + R"(, {"free": true}, {"free": true}, {"free": true})"));
  EXPECT_THAT(std::vector(promotion.lines.begin() + 6, promotion.lines.end()),
              ElementsAre(R"({"resume": 1, "from": 10})", R"({"resume": 2, "from": 10})",
                          R"({"start": 0})"));
}

TEST(TraceRun, MirroredStreamsDecideAlike) {  // cases.md 6
  const std::vector<std::string> losses{".9", "1.2", ".8", "1.0", ".7"};
  std::vector<std::string> up;
  std::vector<std::string> down;
  for (const std::string& loss : losses) {
    down.push_back(fmt::format("{}", std::stod(loss)));
    up.push_back(fmt::format("{}", -std::stod(loss)));
  }
  for (const std::string more : {"", R"(, "cut": "top")", R"(, "variant": "promotion")"}) {
    const Result minimize =
        Replayed(TraceOf({.more = more, .goal = "minimize"}, Reports(10, down)));
    const Result maximize = Replayed(TraceOf({.more = more}, Reports(10, up)));
    EXPECT_EQ(Column(minimize, "decision"), Column(maximize, "decision"));
    EXPECT_EQ(Column(minimize, "reason"), Column(maximize, "reason"));
  }
  EXPECT_EQ(Column(Replayed(TraceOf({.goal = "minimize"}, Reports(10, down))), "decision")[1],
            "stop");
}

TEST(TraceRun, NanStopsAtOnceAndIsNoRival) {  // cases.md 8
  const Result with_nan =
      Replayed(TraceOf({}, Reports(10, {"\"nan\"", "0.9", "\"nan\"", "0.1", "0.95"})));
  EXPECT_THAT(Column(with_nan, "reason"),
              ElementsAre("non_finite", "no_rivals", "non_finite", "below_cutoff", "null"));
  const Result without = Replayed(TraceOf({}, Reports(10, {"0.9", "0.1", "0.95"})));
  const auto cutoffs = Column(with_nan, "cutoff");
  EXPECT_EQ((std::vector{cutoffs[1], cutoffs[3], cutoffs[4]}), Column(without, "cutoff"));
}

TEST(TraceRun, WhatCannotHaveHappenedIsRefusedByTheEventsIndexAfterTheLinesBeforeIt) {
  const Result down = Replayed(TraceOf({}, Reports(10, {"0.5"}) + ", " + Reports(9, {"0.5"})));
  EXPECT_EQ(down.lines.size(), 1U);
  EXPECT_EQ(down.refusal,
            "events[1].report.step: must be at least 10, the last step of trial 1, found 9");
  EXPECT_EQ(Replayed(TraceOf({.trials = 3}, R"({"report": {"trial": 3, "step": 1, "value": 1}})"))
                .refusal,
            "events[0].report.trial: must be an integer from 0 to 2 (trials is 3), found 3");
  EXPECT_EQ(
      Replayed(TraceOf({}, R"({"free": true}, {"exit": {"trial": 1, "state": "lost"}})")).refusal,
      "events[1].exit.trial: 1 does not run (not started), so it cannot exit");
}

TEST(TraceRun, FifoDecidesNothing) {
  const Result result = Replayed(
      R"({"goal": "maximize", "trials": 1, "scheduler": {"fifo": {}}, "events":
         [{"free": true}, {"report": {"trial": 0, "step": 1000, "value": 0}}]})");
  EXPECT_EQ(result.lines[0], R"({"start": 0})");
  EXPECT_THAT(result.lines[1], HasSubstr(R"("decision": "continue", "reason": null)"));
}

}  // namespace
}  // namespace rung
