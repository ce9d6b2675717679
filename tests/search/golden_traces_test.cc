#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "search/stopping_rule.h"
#include "tests/search/rules.h"

/// Decisions recorded from Ray Tune 2.60 and Optuna 5.0, event by event, against ours.
///
/// The files say their conventions in `note`. A difference is either none at all, or one that the
/// rules explain, and then the test says which and why.
namespace rung {
namespace {

using Json = nlohmann::json;

Json EventsOf(const std::string& name) {
  std::ifstream file(std::string(RUNG_SOURCE_DIR) + "/tests/golden/" + name);
  EXPECT_TRUE(file.good()) << name;
  return Json::parse(file).at("events");
}

/// "t07" is trial 7.
TrialNumber TrialOf(const Json& event) {
  return {std::stoi(event.at("trial").get<std::string>().substr(1))};
}

std::string WordOf(Decision decision) { return decision == Decision::kStop ? "STOP" : "CONTINUE"; }

/// numpy.percentile as Ray calls it, restated here so that the rule does not vouch for itself.
double RayCutoff(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double h = static_cast<double>(values.size() - 1) * ((1 - 1 / 3.0) * 100 / 100);
  const double below = std::floor(h);
  const double t = h - below;
  const double a = values.at(static_cast<size_t>(below));
  const double b = values.at(std::min(static_cast<size_t>(below) + 1, values.size() - 1));
  return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

struct RayFile {
  std::string name;
  Goal goal;
  AshaSpec spec;
};

class RayTrace : public ::testing::TestWithParam<RayFile> {};

TEST_P(RayTrace, GivesTheSameDecisionsAndTheSameBitsOfEveryCutoff) {
  const auto& [name, goal, spec] = GetParam();
  const auto rule = MakeRule(spec, goal);
  const double sign = goal == Goal::kMaximize ? 1 : -1;
  int compared = 0;
  for (const Json& event : EventsOf("ray_asha_trace_" + name + ".json")) {
    if (event.at("op") != "result") continue;
    const Verdict verdict =
        rule->OnReport({TrialOf(event), event.at("t").get<Steps>(), event.at("v").get<double>()});
    ASSERT_EQ(WordOf(verdict.decision), event.at("decision")) << event;
    if (event.at("rung").is_null()) {
      ASSERT_TRUE(verdict.records.empty()) << event;
      continue;
    }
    ASSERT_EQ(verdict.records.size(), 1U) << event;
    const DecisionRecord& record = verdict.records[0];
    ASSERT_EQ(record.level, event.at("rung").get<Steps>()) << event;
    ASSERT_EQ(record.n_before, event.at("n_in_rung_before").get<int64_t>()) << event;
    ASSERT_EQ(record.cutoff.has_value(), !event.at("cutoff").is_null()) << event;
    if (record.cutoff) {
      ASSERT_EQ(sign * *record.cutoff, event.at("cutoff").get<double>()) << event;
      ++compared;
    }
  }
  EXPECT_GT(compared, 50);
}

const AshaSpec k100 = {.max_t = 100, .grace_period = 10, .reduction_factor = 3};
const AshaSpec k81 = {.max_t = 81, .grace_period = 1, .reduction_factor = 3};

INSTANTIATE_TEST_SUITE_P(Files, RayTrace,
                         ::testing::Values(RayFile{"1_dense", Goal::kMaximize, k100},
                                           RayFile{"2_ties", Goal::kMaximize, k100},
                                           RayFile{"6_min81", Goal::kMinimize, k81}));

/// Follows what Ray writes into its rungs and we do not.
class SkippedLevels : public ::testing::Test {
 protected:
  std::map<Steps, std::vector<double>> ours_;
  std::map<Steps, std::vector<double>> only_ray_;

  double CutoffWithRaysEntries(Steps level) {
    std::vector<double> all = ours_[level];
    all.insert(all.end(), only_ray_[level].begin(), only_ray_[level].end());
    return RayCutoff(all);
  }
};

TEST_F(SkippedLevels, DifferFromRayOnlyByLateFillingAndWritesOnCompletion) {
  const auto rule = MakeRule(k100, Goal::kMaximize);
  std::vector<std::string> differences;
  int late_fillings = 0;
  int completions = 0;
  for (const Json& event : EventsOf("ray_asha_trace_3_skip.json")) {
    if (event.at("op") == "add") continue;
    const Json& rung = event.at("rung");
    if (event.at("op") == "complete") {
      // Ray hands a finished trial's last result in once more, which fills a level that it skipped.
      if (!rung.is_null()) {
        only_ray_[rung.get<Steps>()].push_back(event.at("v").get<double>());
        ++completions;
      }
      continue;
    }
    const double value = event.at("v").get<double>();
    const Verdict verdict = rule->OnReport({TrialOf(event), event.at("t").get<Steps>(), value});
    const bool decided = !verdict.records.empty() && verdict.records.back().decision != "skipped";
    if (decided) {
      const DecisionRecord& record = verdict.records.back();
      ASSERT_EQ(record.level, rung.get<Steps>()) << event;
      // What we know, and what Ray knows beside it, is all that Ray compared with.
      const size_t both = ours_[record.level].size() + only_ray_[record.level].size();
      ASSERT_EQ(event.at("n_in_rung_before").get<size_t>(), both) << event;
      if (both > 0) {
        ASSERT_EQ(CutoffWithRaysEntries(record.level), event.at("cutoff").get<double>()) << event;
      }
      if (only_ray_[record.level].empty() && both > 0) {
        ASSERT_EQ(*record.cutoff, event.at("cutoff").get<double>()) << event;
      }
      ours_[record.level].push_back(value);
    } else if (!rung.is_null()) {
      // A level that an earlier report skipped: Ray fills it with this later value; for us it is
      // recorded as skipped and never filled.
      only_ray_[rung.get<Steps>()].push_back(value);
      ++late_fillings;
    }
    if (WordOf(verdict.decision) != event.at("decision")) {
      differences.push_back(event.at("trial").get<std::string>() + " at " + event.at("t").dump() +
                            (decided ? " decided" : " late"));
    }
  }
  // t01 skipped 10 by its first report and Ray stops it there at step 75: late filling. The others
  // are decided by both, and Ray's cutoff counts entries that it should not have: at 10 those of
  // late fillings and completions, at 90 values that trials had at their end.
  EXPECT_THAT(differences, ::testing::ElementsAre("t01 at 75 late", "t25 at 98 decided",
                                                  "t24 at 29 decided", "t32 at 90 decided"));
  EXPECT_EQ(late_fillings, 6);
  EXPECT_EQ(completions, 20);
}

struct OptunaFile {
  std::string name;
  Goal goal;
  AshaSpec spec;
};

class OptunaTrace : public ::testing::TestWithParam<OptunaFile> {};

TEST_P(OptunaTrace, GivesTheSameDecisionsBelowTheEnd) {
  const auto& [name, goal, base] = GetParam();
  AshaSpec spec = base;
  spec.cut = AshaSpec::Cut::kTop;
  const auto rule = MakeRule(spec, goal);
  int decided = 0;
  for (const Json& event : EventsOf("optuna_sha_trace_" + name + ".json")) {
    if (event.at("op") != "report") continue;
    const auto step = event.at("t").get<Steps>();
    const Verdict verdict = rule->OnReport({TrialOf(event), step, event.at("v").get<double>()});
    if (step >= spec.max_t) {  // Optuna has no end at R: the difference is by design
      ASSERT_EQ(verdict.reason, "max_t");
      continue;
    }
    ASSERT_EQ(WordOf(verdict.decision), event.at("decision")) << event;
    ASSERT_EQ(verdict.records.size(), event.at("rungs").size()) << event;
    for (const DecisionRecord& record : verdict.records) {
      ASSERT_EQ(record.rule, "asha.stopping.top");
      ++decided;
    }
  }
  EXPECT_GT(decided, 40);
}

INSTANTIATE_TEST_SUITE_P(Files, OptunaTrace,
                         ::testing::Values(OptunaFile{"1_dense", Goal::kMaximize, k100},
                                           OptunaFile{"2_ties", Goal::kMaximize, k100},
                                           OptunaFile{"6_min81", Goal::kMinimize, k81}));

}  // namespace
}  // namespace rung
