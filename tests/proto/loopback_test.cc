#include "proto/loopback.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

TEST(Loopback, IsLocalhostAndTheAddressesOfThisMachine) {
  for (const char* host : {"localhost", "[::1]", "127.0.0.1", "127.1.2.3", "127.255.255.255"}) {
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  }
}

TEST(Loopback, IsNoNameThatOnlyLooksLikeOne) {
  for (const char* host :
       {"127.example.org", "127.0.0.1.example.org", "127.", "127.1", "127.0.0.256",
        "localhost.example.org", "126.0.0.1", "128.0.0.1", "0.0.0.0", "[::2]", "::1", ""}) {
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
  }
}

}  // namespace
}  // namespace rung
