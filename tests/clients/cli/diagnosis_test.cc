#include "clients/cli/diagnosis.h"

#include <gtest/gtest.h>

#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

class WhyAllWorkersRefuseTest : public testing::Test {
 protected:
  WhyAllWorkersRefuseTest() {
    AddWorker("w1", "connected");
    pb::Trial& trial = tuner_.trials.emplace_back();
    trial.set_experiment_id(12);
    trial.set_state(pb::TRIAL_STATE_QUEUED);
    pb::Attempt& attempt = *trial.add_attempts();
    attempt.set_workers("w1");
    attempt.set_exit_cause(pb::EXIT_CAUSE_REFUSED);
    attempt.set_message("there is no folder '/nosuch' here");
    update_.mutable_experiment()->set_id(12);
    update_.mutable_experiment()->set_state(pb::EXPERIMENT_STATE_ACTIVE);
    *update_.add_active_trials() = trial;
  }

  void AddWorker(const std::string& name, const std::string& state) {
    pb::Worker& worker = tuner_.workers.emplace_back();
    worker.set_name(name);
    worker.set_state(state);
  }
  std::string Why() { return WhyAllWorkersRefuse(update_, client_); }

  TemporaryHome home_;
  FakeTuner tuner_;
  FakeServer server_{tuner_, "unix:" + (home_.folder() / "rung.sock").string()};
  Client client_{Address{
      .target = "unix:" + (home_.folder() / "rung.sock").string(), .token = {}, .local = true}};
  pb::WatchExperimentResponse update_;
};

TEST_F(WhyAllWorkersRefuseTest, NamesTheWorkerAndItsReason) {
  EXPECT_EQ(Why(), "worker w1 refused it: there is no folder '/nosuch' here");
  AddWorker("w2", "lost");
  EXPECT_EQ(Why(), "worker w1 refused it: there is no folder '/nosuch' here");
}

TEST_F(WhyAllWorkersRefuseTest, IsEmptyWhileAnotherWorkerMayTakeIt) {
  AddWorker("w2", "connected");
  EXPECT_EQ(Why(), "");
}

TEST_F(WhyAllWorkersRefuseTest, IsEmptyWhileATrialRuns) {
  update_.mutable_experiment()->mutable_trials()->set_running(1);
  EXPECT_EQ(Why(), "");
}

TEST_F(WhyAllWorkersRefuseTest, IsEmptyForATrialThatNobodyRefused) {
  tuner_.trials[0].mutable_attempts(0)->set_exit_cause(pb::EXIT_CAUSE_LOST);
  EXPECT_EQ(Why(), "");
}

}  // namespace
}  // namespace rung::cli
