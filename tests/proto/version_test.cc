#include "proto/version.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

absl::Status Check(std::string_view peer, std::string_view own) {
  return CheckVersions({"the client", peer}, {"the service", own});
}

TEST(Version, OneMinorVersionOfDifferenceIsAllowed) {
  for (const char* peer : {"1.4.0", "1.5.9", "1.6.0"}) EXPECT_TRUE(Check(peer, "1.5.0").ok());
}

TEST(Version, MoreIsRefusedWithBothVersions) {
  EXPECT_EQ(Check("1.3.0", "1.5.0").message(),
            "the client has version \"1.3.0\", the service 1.5.0; one minor version of difference "
            "is allowed: install the same version on both");
  EXPECT_EQ(Check("1.3.0", "1.5.0").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(Check("1.7.0", "1.5.0").ok());
  EXPECT_FALSE(Check("2.5.0", "1.5.0").ok());
}

TEST(Version, WhatIsNoVersionIsRefused) {
  for (const char* peer : {"", "1", "1.5", "x.5.0", "1.x.0", "1..0", "-1.5.0"}) {
    EXPECT_FALSE(Check(peer, "1.5.0").ok()) << peer;
  }
}

}  // namespace
}  // namespace rung
