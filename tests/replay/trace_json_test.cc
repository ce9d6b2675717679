#include "replay/trace_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>

namespace rung {
namespace {

std::string TraceOf(const std::string& events) {
  return R"({"goal": "maximize", "seed": 7, "scheduler": {"asha": {"max_t": 100, "grace_period": )"
         R"(10, "reduction_factor": 3}}, "trials": 40, "events": [)" +
         events + "]}";
}

/// Why a trace is refused.
std::string Refusal(const std::string& text) {
  const absl::StatusOr<Trace> trace = ReadTrace(text);
  return trace.ok() ? "accepted" : std::string(trace.status().message());
}

TEST(TraceJson, ReadsEverythingOfATrace) {
  const auto trace = ReadTrace(TraceOf(
      R"({"report": {"trial": 3, "step": 10, "value": 0.5}}, {"free": true},
         {"exit": {"trial": 3, "state": "lost"}},
         {"report": {"value": "nan", "step": 1, "trial": 0}},
         {"report": {"trial": 0, "step": 2, "value": "-inf"}},
         {"report": {"trial": 0, "step": 3, "value": 1}})"));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->setup.goal, Goal::kMaximize);
  EXPECT_EQ(trace->setup.seed, 7);
  EXPECT_EQ(trace->setup.trials, 40);
  EXPECT_EQ(std::get<AshaSpec>(trace->setup.rule).max_t, 100);
  EXPECT_FALSE(trace->peer.has_value());
  ASSERT_EQ(trace->events.size(), 6U);
  EXPECT_EQ(trace->events[0].kind, TraceEvent::Kind::kReport);
  EXPECT_EQ(trace->events[0].trial, TrialNumber{3});
  EXPECT_EQ(trace->events[0].step, 10);
  EXPECT_EQ(trace->events[0].value, .5);
  EXPECT_EQ(trace->events[1].kind, TraceEvent::Kind::kFree);
  EXPECT_EQ(trace->events[2].exit, TraceExit::kLost);
  EXPECT_EQ(trace->events[2].index, 2U);
  EXPECT_TRUE(std::isnan(trace->events[3].value));
  EXPECT_TRUE(std::isinf(trace->events[4].value));
  EXPECT_EQ(trace->events[5].value, 1);
}

TEST(TraceJson, TheEventsMayComeBeforeTheRest) {
  const auto trace = ReadTrace(
      R"({"events": [{"free": true}], "trials": 2, "scheduler": {"fifo": {}},
          "goal": "minimize"})");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->events.size(), 1U);
  EXPECT_EQ(trace->setup.seed, 0);  // optional
}

TEST(TraceJson, WhatIsNoJsonIsRefusedWithItsPlace) {
  const std::string refusal = Refusal("{\"goal\": \"maximize\",\n \"events\": [{]}");
  EXPECT_TRUE(refusal.starts_with("the document is not JSON: line 2, column 14: ")) << refusal;
  EXPECT_TRUE(Refusal("").starts_with("the document is not JSON: line 1, column 1: "));
  EXPECT_EQ(Refusal("[]"), "the document: must be an object, found an array");
  EXPECT_EQ(Refusal("7"), "the document: must be an object, found 7");
}

TEST(TraceJson, WhatIsMissingIsNamed) {
  EXPECT_EQ(Refusal("{}"), "goal: missing, must be \"maximize\" or \"minimize\"");
  EXPECT_EQ(Refusal(R"({"goal": "maximize", "scheduler": {"fifo": {}}, "events": []})"),
            "trials: missing, must be the number of trials");
  EXPECT_EQ(Refusal(R"({"goal": "maximize", "trials": 1, "events": []})"),
            "scheduler: missing, must be an object such as {\"asha\": {…}}");
  EXPECT_EQ(Refusal(R"({"goal": "maximize", "trials": 1, "scheduler": {"fifo": {}}})"),
            "events: missing, must be an array of events");
}

TEST(TraceJson, TheHeadIsCheckedAsADocumentIs) {
  EXPECT_EQ(Refusal(R"({"goals": 1})"),
            "goals: unknown key, did you mean \"goal\"? Allowed: goal, seed, scheduler, trials, "
            "events");
  EXPECT_EQ(Refusal(R"({"note": 1, "goal": "maximize", "events": [7]})"),
            "note: unknown key. Allowed: goal, seed, scheduler, trials, events");
  EXPECT_EQ(Refusal(R"({"events": [], "note": 1, "goal": 7})"),
            "note: unknown key. Allowed: goal, seed, scheduler, trials, events");
  EXPECT_EQ(Refusal(R"({"events": [], "peer": "ray"})"), "peer: must come before the events");
  EXPECT_EQ(Refusal(R"({"goal": "up", "trials": 1, "scheduler": {"fifo": {}}, "events": []})"),
            "goal: must be one of minimize, maximize, found \"up\"");
  EXPECT_EQ(Refusal(R"({"goal": "maximize", "goal": "maximize"})"),
            "goal: key given twice in one object, allowed once");
  EXPECT_EQ(Refusal(R"({"events": [], "events": []})"),
            "events: key given twice in one object, allowed once");
  EXPECT_EQ(Refusal(R"({"events": {}})"), "events: must be an array of events, found an object");
  EXPECT_EQ(Refusal(R"({"events": 3})"), "events: must be an array of events, found 3");
  EXPECT_EQ(
      Refusal(R"({"goal": "maximize", "trials": 0, "scheduler": {"fifo": {}}, "events": []})"),
      "trials: must be an integer from 1 to 10000000, found 0");
  EXPECT_EQ(
      Refusal(R"({"goal": "maximize", "trials": 1, "events": [], "scheduler": {"asha": {"max_t": 9,
                 "grace_period": 10, "reduction_factor": 3}}})"),
      "scheduler.asha.grace_period: must be at most max_t, which is 9, found 10");
  EXPECT_EQ(Refusal(R"({"goal": "maximize", "trials": 1, "events": [],
                       "scheduler": {"asha": {"max_t": 9, "max_t": 9}}})"),
            "scheduler.asha.max_t: key given twice in one object, allowed once");
}

TEST(TraceJson, AnEventIsRefusedByItsIndex) {
  const auto second = [](const std::string& event) {
    return Refusal(TraceOf(R"({"free": true}, )" + event));
  };
  EXPECT_EQ(second("7"), "events[1]: must be an object, found 7");
  EXPECT_EQ(second("[]"), "events[1]: must be an object, found an array");
  EXPECT_EQ(second("{}"), "events[1]: must have one of the keys report, free, exit");
  EXPECT_EQ(second(R"({"free": true, "report": {}})"),
            "events[1]: must have one of the keys report, free, exit");
  EXPECT_EQ(second(R"({"free": 1})"), "events[1].free: must be true, found 1");
  EXPECT_EQ(second(R"({"reprot": {}})"),
            "events[1].reprot: unknown key, did you mean \"report\"? Allowed: report, free, exit");
  EXPECT_EQ(second(R"({"report": 5})"), "events[1].report: must be an object, found 5");
  EXPECT_EQ(second(R"({"report": {"trial": 0, "steps": 1, "value": 1}})"),
            "events[1].report.steps: unknown key, did you mean \"step\"? Allowed: trial, step, "
            "value");
  EXPECT_EQ(second(R"({"report": {"trial": 0, "trial": 0, "step": 1, "value": 1}})"),
            "events[1].report.trial: key given twice in one object, allowed once");
  EXPECT_EQ(second(R"({"report": {"step": 1, "value": 1}})"),
            "events[1].report.trial: missing, must be a trial's number");
  EXPECT_EQ(second(R"({"report": {"trial": -1, "step": 1, "value": 1}})"),
            "events[1].report.trial: must be an integer from 0 to 9999999, found -1");
  EXPECT_EQ(second(R"({"report": {"trial": 0, "step": 1.0, "value": 1}})"),
            "events[1].report.step: must be an integer from 1 to 1000000000000, found 1.0");
  EXPECT_EQ(second(R"({"report": {"trial": 0, "step": 0, "value": 1}})"),
            "events[1].report.step: must be an integer from 1 to 1000000000000, found 0");
  EXPECT_EQ(second(R"({"report": {"trial": 0, "step": 18446744073709551615, "value": 1}})"),
            "events[1].report.step: must be an integer from 1 to 1000000000000, found "
            "18446744073709551615");
  EXPECT_EQ(second(R"({"report": {"trial": 0, "step": 1, "value": "NaN"}})"),
            "events[1].report.value: must be a number, or \"nan\", \"inf\" or \"-inf\", found "
            "\"NaN\"");
  EXPECT_EQ(second(R"({"report": {"trial": 0, "step": 1, "value": [1]}})"),
            "events[1].report.value: must be a number, or \"nan\", \"inf\" or \"-inf\", found an "
            "array");
  EXPECT_EQ(second(R"({"report": [1]})"), "events[1].report: must be an object, found an array");
  EXPECT_EQ(second(R"({"report": [{"trial": 0}, 2, [3]]})"),
            "events[1].report: must be an object, found an array");
  EXPECT_EQ(second(R"({"free": [true, true]})"), "events[1].free: must be true, found an array");
  EXPECT_EQ(second(R"({"exit": {"trial": 0}})"),
            "events[1].exit.state: missing, must be completed, failed or lost");
  EXPECT_EQ(second(R"({"exit": {"trial": 0, "state": "complete"}})"),
            "events[1].exit.state: must be one of completed, failed, lost, found \"complete\", did "
            "you mean \"completed\"?");
}

}  // namespace
}  // namespace rung
