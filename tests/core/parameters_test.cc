#include "core/parameters.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace rung {
namespace {

TEST(Parameters, FloatsStayFloatsAndReadBack) {
  EXPECT_EQ(JsonFloat(1.0), "1.0");
  EXPECT_EQ(JsonFloat(0.1), "0.1");
  EXPECT_EQ(JsonFloat(1e-6), "1e-06");
  EXPECT_EQ(JsonFloat(-0.0), "-0.0");
  for (const double value : {1.0 / 3, 5e-324, std::numeric_limits<double>::max(), 2.5e17}) {
    EXPECT_EQ(std::strtod(JsonFloat(value).c_str(), nullptr), value);
  }
}

TEST(Parameters, ConfigurationIsOneJsonObjectInOrder) {
  const Configuration configuration{{{"lr", "0.001"}, {"we\"ird\n", "[1,true]"}}};
  EXPECT_EQ(configuration.ToJson(), R"({"lr":0.001,"we\"ird\n":[1,true]})");
  EXPECT_EQ(*configuration.Find("lr"), "0.001");
  EXPECT_EQ(configuration.Find("absent"), nullptr);
}

}  // namespace
}  // namespace rung
