#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

TEST(ValidateVerb, WarnsOfAProgramThatIsNotHere) {
  const TemporaryHome home;
  FakeTuner tuner;
  const FakeServer server(tuner, "unix:" + (home.folder() / "rung.sock").string());
  const std::string file = home.folder() / "experiment.json";
  std::ofstream(file) << R"({"trial": {"command": ["./pyhton3"]}})";
  const std::string warning =
      "a worker on this machine would refuse it: trial.command[0]: there "
      "is no file '" +
      (home.folder() / "./pyhton3").string() + "' here";
  const CommandResult result = RunCommand({"validate", file});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "warning: " + warning + "\n");
  EXPECT_EQ(nlohmann::json::parse(RunCommand({"validate", file, "--json"}).out)["warnings"][0],
            warning);
  tuner.validation.set_planned_trials(1);
  EXPECT_EQ(RunCommand({"validate", file}).out, "valid: 1 trial\n");
}

}  // namespace
}  // namespace rung::cli
