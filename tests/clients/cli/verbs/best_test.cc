#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

TEST(BestVerb, ParametersCannotDriveTheTerminal) {
  const TemporaryHome home;
  FakeTuner tuner;
  pb::Experiment& experiment = tuner.experiments.emplace_back();
  experiment.set_id(12);
  experiment.mutable_best()->set_best_value(0.5);
  experiment.mutable_best()->set_params_json(
      "{\"tag\":\"a\xc2\x9b[2J\"}");  // U+009B begins a command
  const FakeServer server(tuner, "unix:" + (home.folder() / "rung.sock").string());
  const CommandResult result = RunCommand({"best", "12"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, testing::EndsWith("\n{\"tag\":\"a?[2J\"}\n"));
}

}  // namespace
}  // namespace rung::cli
