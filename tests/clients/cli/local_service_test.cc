#include "clients/cli/local_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(LocalService, NeitherStartsNorEndsDaemonsWithoutItsLock) {
  const TemporaryHome home;
  const std::filesystem::path lock = home.folder() / "local.lock";
  std::filesystem::create_directory(lock);  // a folder cannot be opened for writing
  std::ostringstream log;
  LocalService service(Home(home.folder()), log);
  const std::string why =
      "cannot open " + lock.string() + ", which keeps two `rung local` apart: Is a directory;";
  const absl::Status down = service.Down(milliseconds(1));
  // Up would start programs if it could: not asked when already Down goes on.
  ASSERT_EQ(down.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(down.message()), HasSubstr(why));
  const absl::Status up = service.Up({.listen = {},
                                      .insecure_network = false,
                                      .cpus = {},
                                      .log_level = {},
                                      .patience = milliseconds(1)});
  EXPECT_THAT(std::string(up.message()), HasSubstr(why));
  EXPECT_EQ(log.str(), "");
}

}  // namespace
}  // namespace rung::cli
