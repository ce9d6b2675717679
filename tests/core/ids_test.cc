#include "core/ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

TEST(Ids, TextFormReadsBack) {
  const AttemptId id{TrialId{ExperimentId{12}, TrialNumber{3}}, 0};
  EXPECT_EQ(ToString(id), "12.3.0");
  EXPECT_EQ(ParseAttemptId("12.3.0").value(), id);
  EXPECT_EQ(ParseTrialId("12.3").value(), id.trial);
  EXPECT_EQ(ParseExperimentId("12").value(), id.trial.experiment);
}

TEST(Ids, MalformedTextIsRefusedWithTheTextFound) {
  for (const char* text :
       {"", "12", "12.", ".3", "12.3.0", "12.-3", "12.3x", " 12.3", "12.9999999999"}) {
    const auto id = ParseTrialId(text);
    ASSERT_FALSE(id.ok()) << text;
    EXPECT_THAT(std::string(id.status().message()), testing::HasSubstr(text));
  }
}

}  // namespace
}  // namespace rung
