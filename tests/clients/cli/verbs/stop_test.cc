#include <gtest/gtest.h>

#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

TEST(StopVerb, TheReasonCannotDriveTheTerminal) {
  const TemporaryHome home;
  FakeTuner tuner;
  pb::Experiment& experiment = tuner.experiments.emplace_back();
  experiment.set_id(12);
  experiment.set_state(pb::EXPERIMENT_STATE_STOPPING);
  experiment.set_reason("by a\x1b[2J");
  pb::Trial& trial = tuner.trials.emplace_back();
  trial.set_experiment_id(12);
  trial.set_trial_number(3);
  trial.set_state(pb::TRIAL_STATE_CANCELLED);
  trial.set_reason("by a\x1b[2J");
  const FakeServer server(tuner, "unix:" + (home.folder() / "rung.sock").string());
  EXPECT_EQ(RunCommand({"stop", "12"}).err, "Experiment 12 is stopping (by a?[2J).\n");
  EXPECT_EQ(RunCommand({"stop", "12.3"}).err, "Trial 12.3 is cancelled (by a?[2J).\n");
}

}  // namespace
}  // namespace rung::cli
