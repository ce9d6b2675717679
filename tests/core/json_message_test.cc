#include "core/json_message.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rung {
namespace {

TEST(PathOfKey, QuotesKeysThatWouldReadAsPaths) {
  EXPECT_EQ(PathOfKey("space", "lr"), "space.lr");
  EXPECT_EQ(PathOfKey("", "metric"), "metric");
  EXPECT_EQ(PathOfKey("space", "a.b"), "space[\"a.b\"]");
  EXPECT_EQ(PathOfKey("space", ""), "space[\"\"]");
}

TEST(PathOfKey, CutsLongKeysBetweenCharacters) {
  EXPECT_EQ(PathOfKey("", std::string(128, 'x')), std::string(128, 'x'));
  EXPECT_EQ(PathOfKey("", std::string(129, 'x')), "[\"" + std::string(128, 'x') + "\"]");
  // Bytes 127 to 129 are one character.
  EXPECT_EQ(PathOfKey("", std::string(127, 'x') + "…"), "[\"" + std::string(127, 'x') + "\"]");
}

TEST(ShownJson, IsCutAfterSixtyBytes) {
  EXPECT_EQ(ShownJson(std::string(60, '1')), std::string(60, '1'));
  EXPECT_EQ(ShownJson(std::string(61, '1')), std::string(60, '1') + "…");
  EXPECT_EQ(ShownJson(std::string(59, '1') + "é"), std::string(59, '1') + "…");
}

TEST(DidYouMean, NamesTheNearestWordThatIsNear) {
  const std::vector<std::string> words{"uniform", "loguniform", "choice"};
  EXPECT_EQ(DidYouMean("logunifrom", words), ", did you mean \"loguniform\"?");
  EXPECT_EQ(DidYouMean("Uniform", words), ", did you mean \"uniform\"?");
  EXPECT_EQ(DidYouMean("normal", words), "");
  EXPECT_EQ(DidYouMean("", words), "");
}

}  // namespace
}  // namespace rung
