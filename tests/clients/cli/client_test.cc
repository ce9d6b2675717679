#include "clients/cli/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

using testing::HasSubstr;

TEST(Client, AServiceOfAnotherVersionIsRefusedWithBothVersions) {
  const TemporaryHome home;
  FakeTuner tuner;
  const FakeServer server(tuner, "unix:" + (home.folder() / "rung.sock").string());
  tuner.version = "9.0.0";
  const CommandResult refused = RunCommand({"list"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("has version \"9.0.0\", rung " RUNG_VERSION));
  tuner.version = RUNG_VERSION;
  EXPECT_EQ(RunCommand({"list"}).status, 0);
  EXPECT_EQ(tuner.client_version, RUNG_VERSION);
}

TEST(Home, APathThatIsNotUtf8IsRefused) {
  const TemporaryHome home;
  setenv("RUNG_HOME", (home.folder() / "caf\xE9").c_str(), 1);
  const CommandResult result = RunCommand({"local", "up"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("is not UTF-8: byte 0xe9 after '"));
}

}  // namespace
}  // namespace rung::cli
