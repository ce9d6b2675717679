#include "scheduler/caller.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

const CallerCheck kCallers("ada", {{.name = "ada", .secret = "s3cret"},
                                   {.name = "bob", .secret = "other"}});

TEST(CallerCheck, OverTheUnixSocketTheNameIsTheLogin) {
  EXPECT_EQ(*kCallers.NameOf("unix:", ""), "ada");
  EXPECT_EQ(*kCallers.NameOf("unix:/home/ada/rung.sock", "Bearer wrong"), "ada");
}

TEST(CallerCheck, OverTcpTheTokenNamesTheCaller) {
  EXPECT_EQ(*kCallers.NameOf("ipv4:127.0.0.1:40000", "Bearer s3cret"), "ada");
  EXPECT_EQ(*kCallers.NameOf("ipv6:%5B::1%5D:40000", "Bearer other"), "bob");
}

TEST(CallerCheck, OverTcpWhatIsNoKnownTokenIsUnauthenticated) {
  for (const char* authorization : {"", "Bearer ", "Bearer s3cre", "Bearer s3cretx", "s3cret",
                                    "bearer s3cret", "Bearer s3crets3cret"}) {
    EXPECT_EQ(kCallers.NameOf("ipv4:127.0.0.1:40000", authorization).status().code(),
              absl::StatusCode::kUnauthenticated)
        << authorization;
  }
}

}  // namespace
}  // namespace rung
