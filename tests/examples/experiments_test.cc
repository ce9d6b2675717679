#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "scheduler/spec_json.h"
#include "search/searcher.h"

namespace rung {
namespace {

std::string Read(const std::string& name) {
  std::ifstream file(RUNG_SOURCE_DIR "/examples/bert_finetune/experiments/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BertExperiments, DocumentsAreAccepted) {
  for (const char* name : {"grid.json", "asha.json", "winner.json", "grid_full.json",
                           "asha_full.json", "winner_full.json"}) {
    const auto document = ReadExperimentDocument(Read(name), RUNG_SOURCE_DIR);
    ASSERT_TRUE(document.ok()) << name << ": " << document.status();
    const ExperimentSpec& spec = document->spec;
    const auto searcher = MakeSearcher(spec.searcher, spec.space, spec.seed);
    EXPECT_TRUE(searcher.ok()) << name << ": " << searcher.status();
  }
}

TEST(BertExperiments, GridAndAshaDifferInSearcherAndSchedulerOnly) {
  for (const std::string suffix : {"", "_full"}) {
    auto grid = nlohmann::json::parse(Read("grid" + suffix + ".json"));
    auto asha = nlohmann::json::parse(Read("asha" + suffix + ".json"));
    for (const char* key : {"name", "searcher", "scheduler"}) {
      EXPECT_NE(grid[key], asha[key]);
      grid.erase(key);
      asha.erase(key);
    }
    EXPECT_EQ(grid, asha);
  }
}

}  // namespace
}  // namespace rung
