#include "trial_runner/worker/scheduler_session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "tests/trial_runner/worker/fake_scheduler.h"

namespace rung::worker {
namespace {

/// Variables of the environment, as they were before at the end.
class Environment {
 public:
  Environment() = default;
  ~Environment() {
    for (const auto& [name, value] : former_) Put(name, value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  void Set(const std::string& name, const std::optional<std::string>& value) {
    const char* former = std::getenv(name.c_str());
    former_.emplace(name, former == nullptr ? std::optional<std::string>() : former);
    Put(name, value);
  }

 private:
  static void Put(const std::string& name, const std::optional<std::string>& value) {
    if (value) setenv(name.c_str(), value->c_str(), 1);
    if (!value) unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> former_;
};

TEST(MakeChannel, DoesNotGoThroughTheProxyOfTheEnvironment) {
  FakeScheduler scheduler("127.0.0.1:0");
  scheduler.Start([](const v1::WorkerMessage&) { return std::vector<v1::SchedulerMessage>(); });
  Environment environment;
  environment.Set("http_proxy", "http://127.0.0.1:1");  // where nobody listens
  environment.Set("no_proxy", std::nullopt);
  environment.Set("no_grpc_proxy", std::nullopt);
  const auto channel = MakeChannel(fmt::format("127.0.0.1:{}", scheduler.port()));
  // Only a channel that never comes about takes that long.
  const auto patience = std::chrono::system_clock::now() + std::chrono::seconds(30);
  EXPECT_TRUE(channel->WaitForConnected(patience));
}

}  // namespace
}  // namespace rung::worker
