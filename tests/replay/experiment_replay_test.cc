#include "replay/experiment_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rung {
namespace {

using ::testing::HasSubstr;

std::string DocumentOf(const std::string& trial) {
  return R"({"metric": "accuracy", "goal": "maximize", "space": {"lr": {"uniform": [0, 1]}},
             "searcher": {"random": {"trials": 2}}, "scheduler": {"asha": {"max_t": 100,
             "grace_period": 10, "reduction_factor": 3}})" +
         trial + "}";
}

const std::string kAsk = DocumentOf("");
const std::string kResumable =
    DocumentOf(R"(, "trial": {"command": ["x"], "working_dir": "/", "resumable": true})");
const std::string kNotResumable =
    DocumentOf(R"(, "trial": {"command": ["x"], "working_dir": "/"})");

std::vector<RecordedCurve> TwoCurves() {
  return {{.trial = {0}, .points = {{1, .5, 1}, {3, .5, 3}}, .end = CurveEnd::kCut},
          {.trial = {1}, .points = {{1, .4, 2}, {3, .4, 4}}, .end = CurveEnd::kCut}};
}

constexpr const char* kThree =
    R"({"asha": {"max_t": 3, "grace_period": 1, "reduction_factor": 3}})";

TEST(ExperimentReplay, AsksTheDocumentsRuleForTheRows) {
  StoredRecord record;
  record.reports = {{0, {{0}, 10, .5}, 1}};
  EXPECT_THAT(std::string(CheckExperiment(kAsk, record).message()),
              HasSubstr("decision 1: stored is nothing; the rule says continue of trial 0"));
  EXPECT_TRUE(CheckExperiment(kAsk, {}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckExperiment("{}", record)));
}

TEST(ExperimentReplay, UnderMedianReportsCountForOthersThoughTheyMadeNoRow) {
  // Trial 1 is below the mean .9 of trial 0, which was never judged itself. Trial 2
  // reported later: .7 is not below the median .7 of .9 and .5.
  StoredRecord record;
  record.reports = {{0, {{0}, 1, .9}, 1}, {0, {{1}, 1, .5}, 2}, {0, {{2}, 1, .7}, 3}};
  record.decisions = {{0,
                       {.bracket = 0,
                        .level = 1,
                        .trial = {1},
                        .step = 1,
                        .value = .5,
                        .n_before = 1,
                        .entries = 2,
                        .rank = 2,
                        .cutoff = .9,
                        .rule = "median",
                        .decision = "stop",
                        .reason = "below_median"},
                       2}};
  const std::string document =
      R"({"metric": "accuracy", "goal": "maximize", "space": {"lr": {"uniform": [0, 1]}},
          "searcher": {"random": {"trials": 3}}, "scheduler": {"median": {"grace_period": 1,
          "min_rivals": 1}}})";
  const absl::Status status = CheckExperiment(document, record);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(ExperimentReplay, TheVariantOfAnotherSchedulerIsThatOfTheTrials) {
  const auto stopping = LookBackUnder(kNotResumable, kThree, TwoCurves());
  ASSERT_TRUE(stopping.ok()) << stopping.status();
  EXPECT_EQ(stopping->trials[1].fate, Fate::kStopped);
  const auto promotion = LookBackUnder(kResumable, kThree, TwoCurves());
  ASSERT_TRUE(promotion.ok()) << promotion.status();
  EXPECT_EQ(promotion->trials[1].fate, Fate::kNotPromoted);
  // What the trials could not do may still be asked.
  const auto asked = LookBackUnder(
      kNotResumable,
      R"({"asha": {"max_t": 3, "grace_period": 1, "reduction_factor": 3, "variant": "promotion"}})",
      TwoCurves());
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_EQ(asked->trials[1].fate, Fate::kNotPromoted);
}

TEST(ExperimentReplay, AWrongSchedulerIsRefusedAsInADocument) {
  const auto refusal = [](const char* scheduler) {
    return std::string(LookBackUnder(kAsk, scheduler, TwoCurves()).status().message());
  };
  EXPECT_EQ(refusal(R"({"asha": {"max_t": 3, "grace_period": 4, "reduction_factor": 3}})"),
            "scheduler.asha.grace_period: must be at most max_t, which is 3, found 4");
  EXPECT_THAT(refusal(R"({"ahsa": {}})"), HasSubstr("scheduler.ahsa: unknown key, did you mean"));
  EXPECT_THAT(refusal("{"), HasSubstr("the document is not JSON: line 1, column 2"));
}

}  // namespace
}  // namespace rung
