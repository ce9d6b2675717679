#include "scheduler/stored_configuration.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

TEST(StoredConfiguration, ReadsBackWhatToJsonWrote) {
  Configuration configuration;
  configuration.parameters = {
      {"lr", "1e-05"},
      {"batch size", "16"},
      {"a\"b\\c\n\t\x01", "true"},
      {"nested", R"({"x":[1,{"y":"}],\""}],"z":null})"},
      {"text", R"("a,b}")"},
  };
  const auto read = ReadStoredConfiguration(configuration.ToJson());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, configuration);
}

TEST(StoredConfiguration, ReadsTheEmptyObject) {
  const auto read = ReadStoredConfiguration("{}");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->parameters.empty());
}

TEST(StoredConfiguration, RefusesAnythingElseWithoutReadingPastItsEnd) {
  for (const char* text : {"", "{", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1}x", "{\"a\\",
                           "{\"a\\u00", "{\"a\\uzzzz\":1}", "{\"a\":\"\\"}) {
    EXPECT_EQ(ReadStoredConfiguration(text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace rung
