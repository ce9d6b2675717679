#include "search/decimal_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/parameters.h"

namespace rung {
namespace {

using ::testing::ElementsAre;

DecimalSteps Steps(double low, double high, double q) {
  absl::StatusOr<DecimalSteps> steps = DecimalSteps::Create({.low = low, .high = high, .q = q});
  EXPECT_TRUE(steps.ok()) << steps.status();
  return *steps;
}

std::vector<std::string> Texts(double low, double high, double q) {
  const DecimalSteps steps = Steps(low, high, q);
  std::vector<std::string> texts;
  for (int64_t k = 0; k < steps.count(); ++k) texts.push_back(JsonFloat(steps.At(k)));
  return texts;
}

TEST(DecimalSteps, AreTheDecimalsThatAPersonWouldWrite) {
  EXPECT_THAT(Texts(0.2, 0.8, 0.3), ElementsAre("0.2", "0.5", "0.8"));
  // In binary 3 · 0.1 is 0.30000000000000004 and (0.3 − 0) / 0.1 is 2.9999999999999996.
  EXPECT_THAT(Texts(0, 0.3, 0.1), ElementsAre("0.0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(Texts(-0.3, 0.1, 0.1), ElementsAre("-0.3", "-0.2", "-0.1", "0.0", "0.1"));
  EXPECT_THAT(Texts(32, 96, 32), ElementsAre("32.0", "64.0", "96.0"));
  EXPECT_THAT(Texts(1e-5, 3.5e-5, 1e-5), ElementsAre("1e-05", "2e-05", "3e-05"));
  EXPECT_THAT(Texts(1e22, 3e22, 1e22), ElementsAre("1e+22", "2e+22", "3e+22"));
  EXPECT_THAT(Texts(5, 5, 0.1), ElementsAre("5.0"));
}

TEST(DecimalSteps, CountUpToTheHighEnd) {
  const DecimalSteps steps = Steps(10, 1000, 50);
  EXPECT_EQ(steps.count(), 20);  // 10, 60, … 960
  EXPECT_EQ(steps.At(19), 960);
}

TEST(DecimalSteps, NearestRoundsHalfUpAndStaysInside) {
  const DecimalSteps steps = Steps(0.2, 0.9, 0.3);  // 0.2, 0.5, 0.8
  EXPECT_EQ(steps.Nearest(0.34), 0);
  EXPECT_EQ(steps.Nearest(0.36), 1);
  EXPECT_EQ(steps.Nearest(0.9), 2);
  EXPECT_EQ(Steps(0, 10, 4).Nearest(10), 2);  // 0, 4, 8: nothing beyond 8
  EXPECT_EQ(Steps(0, 10, 4).Nearest(2), 1);
}

TEST(DecimalSteps, KnowTheirOwnValues) {
  const DecimalSteps steps = Steps(0.2, 0.8, 0.3);
  EXPECT_EQ(steps.IndexOf(0.5), 1);
  EXPECT_EQ(steps.IndexOf(0.3), std::nullopt);
  EXPECT_EQ(steps.IndexOf(1.1), std::nullopt);
  EXPECT_EQ(steps.IndexOf(-0.1), std::nullopt);
  EXPECT_EQ(steps.IndexOf(0.50000000000000011), std::nullopt);
}

TEST(DecimalSteps, WhatCannotBeCountedIsRefused) {
  const auto too_many = DecimalSteps::Create({.low = 0, .high = 1, .q = 1e-17});
  EXPECT_EQ(too_many.status().code(), absl::StatusCode::kInvalidArgument);
  const auto too_far = DecimalSteps::Create({.low = 0, .high = 1e300, .q = 1e-300});
  EXPECT_EQ(too_far.status().code(), absl::StatusCode::kInvalidArgument);
  const auto tiny_offset = DecimalSteps::Create({.low = 1e-60, .high = 1, .q = 0.1});
  EXPECT_EQ(tiny_offset.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace rung
