#include "replay/peer_trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "replay/trace_json.h"
#include "replay/trace_run.h"

namespace rung {
namespace {

/// The comparison of a recording in tests/golden/.
PeerComparison Compare(const std::string& name) {
  std::ifstream file(std::string(RUNG_SOURCE_DIR) + "/tests/golden/" + name);
  EXPECT_TRUE(file.good()) << name;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto trace = ReadTrace(text);
  EXPECT_TRUE(trace.ok()) << trace.status();
  const auto comparison = RunTrace(*trace, [](std::string_view) {});
  EXPECT_TRUE(comparison.ok()) << comparison.status();
  return comparison->value();
}

TEST(PeerTrace, RaysDecisionsAndCutoffsAreOurs) {
  for (const std::string name : {"1_dense", "2_ties", "6_min81"}) {
    const PeerComparison c = Compare("ray_asha_trace_" + name + ".json");
    EXPECT_GT(c.decisions, 300) << name;
    EXPECT_EQ(c.differ, 0) << name;
    EXPECT_GT(c.cutoffs, 50) << name;
    EXPECT_EQ(c.cutoffs_differ, 0) << name;
    EXPECT_FALSE(c.first_difference.has_value()) << name;
  }
}

TEST(PeerTrace, OptunasDecisionsAreOursBelowTheEnd) {
  for (const std::string name : {"1_dense", "2_ties", "6_min81"}) {
    const PeerComparison c = Compare("optuna_sha_trace_" + name + ".json");
    EXPECT_GT(c.decisions, 100) << name;
    EXPECT_EQ(c.differ, 0) << name;
    EXPECT_EQ(c.cutoffs, 0) << name;
  }
}

TEST(PeerTrace, RaysLateFillingOfSkippedLevelsIsTheOnlyDifference) {
  // tests/search/golden_traces_test.cc names these four and says why each is right.
  EXPECT_EQ(Compare("ray_asha_trace_3_skip.json").differ, 4);
}

std::string Refusal(const std::string& text) {
  const auto trace = ReadTrace(text);
  return trace.ok() ? "accepted" : std::string(trace.status().message());
}

std::string Ray(const std::string& params, const std::string& event) {
  return R"({"peer": "ray", "version": "2", "scheduler": "AsyncHyperBandScheduler",
             "rungs": [1, [2]],
             "params": )" +
         params + R"(, "events": [)" + event + R"(], "final_rungs": {"90": {}}})";
}

constexpr const char* kParams =
    R"({"mode": "min", "max_t": 9, "grace_period": 1, "reduction_factor": 3, "brackets": 1})";

TEST(PeerTrace, CutoffsGetTheUsersSign) {
  const auto trace =
      ReadTrace(Ray(kParams,
                    R"({"op": "result", "trial": "t03", "t": 1, "v": 0.5, "decision": "STOP",
          "cutoff": -0.25})"));
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_EQ(trace->peer->answers.size(), 1U);
  EXPECT_EQ(trace->peer->answers[0].cutoff, .25);
  EXPECT_EQ(trace->events[0].trial, TrialNumber{3});
  EXPECT_EQ(trace->setup.trials, 4);
  std::string line;
  ASSERT_TRUE(RunTrace(*trace, [&](std::string_view lines) { line += lines; }).ok());
  EXPECT_TRUE(line.ends_with("\"recorded\": \"stop\"}\n")) << line;
}

TEST(PeerTrace, ThePeersNameMayComeAnywhereBeforeTheEvents) {
  const std::string noted = R"({"note": {"by": ["ada"]}, "params": )" + std::string(kParams) +
                            R"(, "peer": "ray", "events": []})";
  EXPECT_EQ(Refusal(noted), "accepted");
}

TEST(PeerTrace, WhatIsWrongIsNamed) {
  EXPECT_EQ(Refusal(R"({"peer": "hyperopt", "params": {}, "events": []})"),
            "peer: must be one of ray, optuna, found \"hyperopt\"");
  EXPECT_EQ(Refusal(R"({"peer": "ray", "events": []})"), "params: missing, must be an object");
  EXPECT_EQ(Refusal(Ray("{}", "")), "params.mode: missing, must be max or min");
  EXPECT_EQ(Refusal(Ray(R"({"mode": "min", "max_t": 9, "grace_period": 1, "reduction_factor": 3,
                            "brackets": 2})",
                        "")),
            "params.brackets: must be an integer from 1 to 1, found 2");
  EXPECT_EQ(Refusal(Ray(kParams, R"({"op": "stop"})")),
            "events[0].op: must be one of add, result, report, complete, found \"stop\"");
  EXPECT_EQ(Refusal(Ray(kParams, R"({"op": "result", "trial": "x", "t": 1, "v": 1})")),
            "events[0].trial: must be a name that ends in a number below 10000000, such as "
            "\"t07\", found \"x\"");
  EXPECT_EQ(Refusal(Ray(kParams, R"({"op": "result", "trial": "t1", "t": 1, "v": 1})")),
            "events[0].decision: missing, must be CONTINUE or STOP");
}

}  // namespace
}  // namespace rung
