#include "examples/bert_finetune/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bert {
namespace {

using ::testing::HasSubstr;

Settings Parsed(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "bert_finetune");
  const auto settings = ParseCommandLine(static_cast<int>(flags.size()), flags.data());
  EXPECT_TRUE(settings.ok()) << settings.status();
  return **settings;
}

absl::Status Applied(const std::string& params, Settings& settings) {
  rung::report::TrialContract contract;
  contract.params = nlohmann::json::parse(params);
  return ApplyContract(rung::report::Trial(contract), settings);
}

TEST(Settings, SettingGivesDefaultsThatFlagsReplaceInAnyOrder) {
  const Settings mini = Parsed({});
  EXPECT_EQ(mini.freeze_layers, 5);
  EXPECT_EQ(mini.unit_examples, 448);
  EXPECT_EQ(mini.units, 27);
  const Settings full = Parsed({"--units", "10", "--setting", "full"});
  EXPECT_EQ(full.freeze_layers, 0);
  EXPECT_EQ(full.unit_examples, 192);
  EXPECT_EQ(full.units, 10);
}

TEST(Settings, ParametersOfTheTrialReplaceFlags) {
  Settings settings = Parsed({"--cache", "c", "--lr", "0.5"});
  ASSERT_TRUE(Applied(R"({"lr": 1e-5, "batch_size": 64, "warmup_steps": 1250})", settings).ok());
  EXPECT_EQ(settings.lr, 1e-5);
  EXPECT_EQ(settings.batch_size, 64);
  EXPECT_EQ(settings.WarmupUpdates(), 125);
  EXPECT_EQ(settings.weight_decay, 0.01);
}

TEST(Settings, UpdatesOfAUnitAddUpWhenTheBatchDoesNotDivideIt) {
  Settings settings;
  settings.batch_size = 100;
  settings.unit_examples = 448;
  EXPECT_EQ(settings.UpdatesAfter(1), 4);     // 448 rows hold 4 whole batches
  EXPECT_EQ(settings.UpdatesAfter(25), 112);  // 25 * 448 / 100: no batch is lost over units
}

struct BadParameters {
  std::string params;
  std::string message;
};

TEST(Settings, BadParametersAreRefusedByName) {
  const BadParameters cases[] = {
      {R"({"learning_rate": 1e-5})", "'learning_rate' is none of this program"},
      {R"({"lr": "fast"})", "'lr': must be a number"},
      {R"({"lr": 0})", "lr: must be > 0"},
      {R"({"batch_size": 449})", "batch_size: must be in [1, 448]"},
      {R"({"batch_size": 16.5})", "'batch_size': must be an integer"},
      {R"({"warmup_steps": -1})", "warmup_steps: must be >= 0, found -1"},
      {R"({"weight_decay": -0.1})", "weight_decay: must be >= 0"},
  };
  for (const BadParameters& bad : cases) {
    Settings settings = Parsed({"--cache", "c"});
    const absl::Status status = Applied(bad.params, settings);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad.params;
    EXPECT_THAT(status.message(), HasSubstr(bad.message));
  }
}

TEST(Settings, FrozenLayersNeedACache) {
  Settings settings = Parsed({});
  EXPECT_THAT(Applied("{}", settings).message(), HasSubstr("need --cache"));
}

TEST(Settings, UnknownFlagIsWrongUsage) {
  const char* const flags[] = {"bert_finetune", "--lrr", "1"};
  const auto settings = ParseCommandLine(3, flags);
  EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(settings.status().message(), HasSubstr("--lrr"));
}

}  // namespace
}  // namespace bert
