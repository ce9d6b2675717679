#include "clients/cli/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Experiment 12 with trial 12.3.
class SelectorTest : public testing::Test {
 protected:
  SelectorTest() {
    tuner_.experiments.emplace_back().set_id(12);
    pb::Trial& trial = tuner_.trials.emplace_back();
    trial.set_experiment_id(12);
    trial.set_trial_number(3);
    for (const int attempt : {0, 1}) {
      pb::Metric& metric = tuner_.metrics.emplace_back();
      metric.set_trial_number(3);
      metric.set_attempt(attempt);
      metric.set_name("accuracy");
    }
    server_ =
        std::make_unique<FakeServer>(tuner_, "unix:" + (home_.folder() / "rung.sock").string());
  }

  TemporaryHome home_;
  FakeTuner tuner_;
  std::unique_ptr<FakeServer> server_;
};

TEST_F(SelectorTest, StoppingAnAttemptStopsNeitherItsTrialNorItsExperiment) {
  const CommandResult result = RunCommand({"stop", "12.3.0"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err,
            "rung: '12.3.0' names an attempt; an experiment or a trial is wanted here: 12 or "
            "12.3\n");
  EXPECT_THAT(tuner_.stopped, IsEmpty());
}

TEST_F(SelectorTest, AnAttemptIsRefusedWhereATrialIsWanted) {
  EXPECT_THAT(RunCommand({"show", "12.3.0"}).err,
              HasSubstr("'12.3.0' names an attempt; an experiment or a trial is wanted here"));
  EXPECT_EQ(RunCommand({"why", "12.3.0"}).err,
            "rung: '12.3.0' names an attempt; a trial is wanted here: 12.3\n");
  EXPECT_THAT(RunCommand({"trials", "12.3.0"}).err,
              HasSubstr("'12.3.0' names an attempt; an experiment is wanted here"));
}

TEST_F(SelectorTest, LogsAndMetricsTakeAnAttempt) {
  const CommandResult metrics = RunCommand({"metrics", "12.3.1", "--json"});
  EXPECT_EQ(metrics.status, 0) << metrics.err;
  EXPECT_THAT(metrics.out, HasSubstr("\"attempt\":1"));
  EXPECT_THAT(metrics.out, testing::Not(HasSubstr("\"attempt\":0")));
  EXPECT_EQ(RunCommand({"logs", "12.3.1"}).status, 0);
  EXPECT_EQ(tuner_.logs_asked.attempt(), 1);
}

}  // namespace
}  // namespace rung::cli
