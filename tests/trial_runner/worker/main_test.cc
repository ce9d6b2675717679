// The program rung-worker, as a user meets it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/trial_runner/worker/fake_scheduler.h"

namespace rung::worker {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kProgram = RUNG_BINARY_DIR "/bin/rung-worker ";

/// A running rung-worker; its output and, at its end, its exit status.
class Program {
 public:
  /// `before`: what the shell does first.
  explicit Program(const std::string& arguments, const std::string& before = "")
      : pipe_(popen((before + "exec " + kProgram + arguments + " 2>&1").c_str(), "r")) {}
  ~Program() {
    if (pipe_ != nullptr) pclose(pipe_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Output up to and with the first line that holds `part`, or all of it.
  std::string ReadUntil(const std::string& part) {
    std::string text;
    char line[4096];
    while (std::fgets(line, sizeof line, pipe_) != nullptr) {
      text += line;
      if (!part.empty() && std::string(line).find(part) != std::string::npos) break;
    }
    return text;
  }
  int ExitStatus() {
    const int status = pclose(std::exchange(pipe_, nullptr));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  FILE* pipe_;
};

struct UsageCase {
  const char* arguments;
  int status;
  const char* output;
};

class WorkerUsage : public ::testing::TestWithParam<UsageCase> {};

TEST_P(WorkerUsage, HasItsStatusAndMessage) {
  Program program(GetParam().arguments);
  EXPECT_THAT(program.ReadUntil(""), HasSubstr(GetParam().output));
  EXPECT_EQ(program.ExitStatus(), GetParam().status);
}

INSTANTIATE_TEST_SUITE_P(
    Program, WorkerUsage,
    ::testing::Values(
        UsageCase{"--version", 0, "rung-worker " RUNG_VERSION}, UsageCase{"--help", 0, "Examples:"},
        UsageCase{"", 2, "rung-worker: --server is required"},
        UsageCase{"--frob", 2, "rung-worker: The following argument was not expected: --frob"},
        UsageCase{"--cpus none", 2, "rung-worker: "}, UsageCase{"--server x", 2, "HOST:PORT"},
        UsageCase{"--server /s --memory much", 2, "--memory: must be a size such as \"512MiB\""},
        UsageCase{"--server /s --memory 8", 2, "found \"8\""},
        UsageCase{"--server /s --memory 0B", 2, "--memory: must be more than 0B"},
        UsageCase{"--server /s --log-level loud", 2, "--log-level"},
        UsageCase{"--server /s --tls-ca f", 2, "later version"},
        UsageCase{"--server 192.0.2.1:7070", 2, "--insecure-network"}));

class WorkerProgramTest : public ::testing::Test {
 protected:
  WorkerProgramTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-main-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~WorkerProgramTest() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(WorkerProgramTest, TokenFileThatIsNotThereIsAFailure) {
  Program program("--server 127.0.0.1:7070 --token-file /does/not/exist --home " + folder_);
  EXPECT_THAT(program.ReadUntil(""), HasSubstr("cannot read the token file '/does/not/exist'"));
  EXPECT_EQ(program.ExitStatus(), 1);
}

TEST_F(WorkerProgramTest, AWrongTokenEndsItAndTheFileIsNamed) {
  FakeScheduler scheduler("127.0.0.1:0");
  scheduler.Refuse({grpc::StatusCode::UNAUTHENTICATED, "the token is not in the token file"});
  scheduler.Start([](const v1::WorkerMessage&) { return std::vector<v1::SchedulerMessage>(); });
  const std::string file = folder_ + "/wrong";
  std::ofstream(file) << "me:secret\n";
  Program program("--server 127.0.0.1:" + std::to_string(scheduler.port()) + " --home " + folder_ +
                  " --token-file " + file);
  const std::string output = program.ReadUntil("");
  EXPECT_THAT(output, HasSubstr("with the token of '" + file + "': the token is not in the"));
  EXPECT_EQ(program.ExitStatus(), 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/worker.json"));
}

TEST_F(WorkerProgramTest, ManyDescriptorsAreForItselfAndTheUsualOnesForItsTrials) {
  FakeScheduler scheduler("unix:" + folder_ + "/s");
  scheduler.Start([&](const v1::WorkerMessage& message) {
    std::vector<v1::SchedulerMessage> replies(message.has_hello() ? 2 : 0);
    if (replies.empty()) return replies;
    replies[0].mutable_welcome()->set_heartbeat_ms(100);
    v1::StartAttempt& start = *replies[1].mutable_start_attempt();
    start.mutable_attempt()->set_experiment_id(1);
    start.set_params_json("{}");
    for (const char* argument : {"sh", "-c", "ulimit -S -n; ulimit -H -n"}) {
      start.mutable_trial()->add_command(argument);
    }
    start.mutable_trial()->set_working_dir(folder_);
    start.mutable_trial()->set_processes(1);
    start.mutable_trial()->mutable_per_process()->set_milli_cpus(1);
    start.mutable_trial()->set_reduce(v1::REDUCE_RANK0);
    return replies;
  });
  const std::string home = folder_ + "/h";
  Program program("--server unix:" + folder_ + "/s --gpus 0 --home " + home,
                  "ulimit -S -n 100; ulimit -H -n 300; ");
  scheduler.Await([](const v1::WorkerMessage& m) { return m.has_attempt_exited(); });
  std::ifstream log(home + "/logs/1.0.0/rank0.out");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(log), {}), "100\n300\n");

  std::ifstream record(home + "/worker.json");
  const pid_t pid = nlohmann::json::parse(record)["pid"].get<pid_t>();
  std::ifstream limits("/proc/" + std::to_string(pid) + "/limits");
  const std::string text(std::istreambuf_iterator<char>(limits), {});
  EXPECT_THAT(text, ContainsRegex("Max open files +300 +300"));
  kill(pid, SIGTERM);
  program.ReadUntil("");
}

TEST_F(WorkerProgramTest, OneWorkerAHomeAndSigtermEndsIt) {
  const std::string arguments = "--server unix:" + folder_ + "/none --name n1 --home " + folder_;
  Program first(arguments);
  ASSERT_THAT(first.ReadUntil("offers"), HasSubstr("CPUs"));
  std::ifstream stream(folder_ + "/worker.json");
  const auto record = nlohmann::json::parse(stream);
  EXPECT_EQ(record["name"], "n1");
  const pid_t pid = record["pid"].get<pid_t>();

  Program second(arguments);
  EXPECT_THAT(second.ReadUntil(""),
              StartsWith("rung-worker: another rung-worker (process " + std::to_string(pid) + ")"));
  EXPECT_EQ(second.ExitStatus(), 1);

  ASSERT_THAT(first.ReadUntil("nobody answers"), HasSubstr("/none"));
  kill(pid, SIGTERM);
  EXPECT_THAT(first.ReadUntil(""), HasSubstr("ended"));
  EXPECT_EQ(first.ExitStatus(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/worker.json"));
}

}  // namespace
}  // namespace rung::worker
