#include "trial_runner/report/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <limits>
#include <thread>
#include <vector>

namespace rung::report {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A worker that takes one connection, answers each line with the next of `answers` and then
/// closes.
class ScriptedWorker {
 public:
  explicit ScriptedWorker(std::vector<std::string> answers) {
    char folder[] = "/tmp/rung-report-XXXXXX";
    folder_ = ::mkdtemp(folder);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path().c_str(), path().native().size() + 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    thread_ = std::thread([this, answers = std::move(answers)] { Serve(answers); });
  }
  ~ScriptedWorker() {
    if (thread_.joinable()) thread_.join();
    ::close(listener_);
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path path() const { return folder_ / "s"; }
  /// The lines that were received, after the connection has ended.
  std::vector<std::string> Lines() {
    thread_.join();
    return lines_;
  }

 private:
  void Serve(const std::vector<std::string>& answers) {
    const int connection = ::accept(listener_, nullptr, nullptr);
    std::string line;
    std::size_t next = 0;
    char byte = 0;
    while (next < answers.size() && ::read(connection, &byte, 1) == 1) {
      if (byte != '\n') {
        line += byte;
        continue;
      }
      lines_.push_back(std::exchange(line, ""));
      const std::string& answer = answers[next++];
      EXPECT_EQ(::write(connection, answer.data(), answer.size()),
                static_cast<ssize_t>(answer.size()));
      if (answer.empty()) {  // says nothing until the trial hangs up
        while (::read(connection, &byte, 1) == 1) continue;
      }
    }
    ::close(connection);
  }

  std::filesystem::path folder_;
  int listener_ = -1;
  std::vector<std::string> lines_;
  std::thread thread_;
};

TrialContract ContractFor(const ScriptedWorker& worker) {
  TrialContract contract;
  contract.socket = worker.path();
  contract.checkpoint_dir = "/data/12.3";
  return contract;
}

TEST(Trial, ReportSendsOneLineAndReadsTheDecision) {
  ScriptedWorker worker({"{\"decision\": \"continue\", \"durable\": false}\n",
                         "{\"decision\": \"stop\"}\n", "{\"decision\": \"pause\"}\n",
                         "{\"decision\": \"celebrate\"}\n"});
  {
    Trial trial(ContractFor(worker));
    const ReportAnswer kept = trial.Report(10, {{"accuracy", 0.5}}, 32);
    EXPECT_EQ(kept.decision, Decision::kContinue);
    EXPECT_FALSE(kept.durable);
    const ReportAnswer stopped = trial.Report(20, {{"loss", 0.25}});
    EXPECT_EQ(stopped.decision, Decision::kStop);
    EXPECT_TRUE(stopped.durable);
    EXPECT_EQ(trial.Report(30, {{"loss", 0.25}}).decision, Decision::kPause);
    EXPECT_EQ(trial.Report(40, {{"loss", 0.25}}).decision, Decision::kContinue);
  }
  const std::vector<std::string> lines = worker.Lines();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], R"({"report":{"count":32,"metrics":{"accuracy":0.5},"step":10}})");
  EXPECT_EQ(lines[1], R"({"report":{"metrics":{"loss":0.25},"step":20}})");
}

TEST(Trial, NonFiniteMetricsAreSentAsWords) {
  ScriptedWorker worker({"{\"decision\": \"continue\"}\n"});
  {
    Trial trial(ContractFor(worker));
    constexpr double kInf = std::numeric_limits<double>::infinity();
    trial.Report(1, {{"a", std::nan("")}, {"b", kInf}, {"c", -kInf}});
  }
  EXPECT_EQ(worker.Lines().at(0),
            R"({"report":{"metrics":{"a":"nan","b":"inf","c":"-inf"},"step":1}})");
}

TEST(Trial, ErrorAnswerCarriesTheWorkersWords) {
  ScriptedWorker worker({"{\"error\": \"step 3 is below 10\"}\n"});
  Trial trial(ContractFor(worker));
  EXPECT_THAT(
      [&] {
        trial.Report(3, {{"a", 1.0}});
      },
      ThrowsMessage<TrialError>(HasSubstr("step 3 is below 10")));
}

TEST(Trial, AnswerThatIsNoJsonIsAnError) {
  ScriptedWorker worker({"hello\n"});
  Trial trial(ContractFor(worker));
  EXPECT_THAT(
      [&] {
        trial.Report(3, {{"a", 1.0}});
      },
      ThrowsMessage<TrialError>(HasSubstr("'hello', not a JSON object")));
}

TEST(Trial, EndlessAnswerIsCutOff) {
  ScriptedWorker worker({std::string(2 * Trial::kAnswerBytesMax, 'x')});
  Trial trial(ContractFor(worker));
  EXPECT_THAT(
      [&] {
        trial.Report(3, {{"a", 1.0}});
      },
      ThrowsMessage<TrialError>(HasSubstr("longer than 65536 bytes")));
}

TEST(Trial, LostWorkerIsAnErrorNotAHang) {
  ScriptedWorker worker({"{\"decision\": \"continue\"}\n"});
  Trial trial(ContractFor(worker));
  trial.Report(1, {{"a", 1.0}});
  EXPECT_THAT(
      [&] {
        trial.Report(2, {{"a", 1.0}});
      },
      ThrowsMessage<TrialError>(HasSubstr("lost the worker")));
}

TEST(Trial, SilentWorkerEndsTheWait) {
  ScriptedWorker worker({""});
  Trial trial(ContractFor(worker), std::chrono::milliseconds(30));
  EXPECT_THAT(
      [&] {
        trial.Report(1, {{"a", 1.0}});
      },
      ThrowsMessage<TrialError>(HasSubstr("no answer from the worker within 30 ms")));
}

TEST(Trial, CheckpointPathsAreSentRelativeToTheCheckpointFolder) {
  ScriptedWorker worker({"{\"checkpoint\": \"stored\"}\n", "{\"checkpoint\": \"stored\"}\n",
                         "{\"checkpoint\": \"refused\"}\n"});
  {
    Trial trial(ContractFor(worker));
    trial.Checkpoint(10, "step-10");
    trial.Checkpoint(20, "/data/12.3/step-20");
    EXPECT_THROW(trial.Checkpoint(30, "step-30"), TrialError);
    EXPECT_THROW(trial.Checkpoint(30, "../12.4/step-30"), TrialError);
    EXPECT_THROW(trial.Checkpoint(30, "/data/12.4/step-30"), TrialError);
  }
  const std::vector<std::string> lines = worker.Lines();
  ASSERT_EQ(lines.size(), 3u);  // the paths outside never left the process
  EXPECT_EQ(lines[1], R"({"checkpoint":{"path":"step-20","step":20}})");
}

TEST(Trial, BadReportsAreRefusedBeforeTheyAreSent) {
  Trial trial(TrialContract{});
  EXPECT_THROW(trial.Report(0, {{"a", 1.0}}), TrialError);  // steps count from 1
  EXPECT_THROW(trial.Checkpoint(0, "step-0"), TrialError);
  EXPECT_THROW(trial.Report(1, {}), TrialError);
  EXPECT_THROW(trial.Report(1, {{"", 1.0}}), TrialError);
  EXPECT_THROW(trial.Report(1, {{"a", 1.0}}, 0), TrialError);
}

TEST(Trial, StartedByHandEveryDecisionIsContinue) {
  Trial trial(TrialContract{});
  EXPECT_FALSE(trial.connected());
  EXPECT_EQ(trial.Report(1, {{"a", 1.0}}).decision, Decision::kContinue);
  trial.Checkpoint(1, "step-1");
}

TEST(Trial, MissingSocketIsNamed) {
  TrialContract contract;
  contract.socket = "/nonexistent/rung.sock";
  EXPECT_THAT([&] { Trial trial(contract); },
              ThrowsMessage<TrialError>(HasSubstr("/nonexistent/rung.sock")));
}

TEST(Trial, ParametersKeepTheirTypes) {
  TrialContract contract;
  contract.params = {{"lr", 1e-4},  {"batch", 16},   {"epochs", 3.0},
                     {"half", 0.5}, {"name", "sgd"}, {"on", true}};
  Trial trial(contract);
  EXPECT_EQ(trial.Param<double>("lr"), 1e-4);
  EXPECT_EQ(trial.Param<double>("batch"), 16.0);
  EXPECT_EQ(trial.Param<std::int64_t>("batch"), 16);
  EXPECT_EQ(trial.Param<std::int64_t>("epochs"), 3);
  EXPECT_EQ(trial.Param<std::string>("name"), "sgd");
  EXPECT_TRUE(trial.Param<bool>("on"));
  EXPECT_EQ(trial.Param<double>("absent", 0.25), 0.25);
  EXPECT_THROW(trial.Param<std::int64_t>("half"), TrialError);
  EXPECT_THROW(trial.Param<double>("on"), TrialError);
  EXPECT_THROW(trial.Param<std::string>("lr", "x"), TrialError);
  EXPECT_THAT([&] { trial.Param<double>("lrr"); },
              ThrowsMessage<TrialError>(HasSubstr("'lrr' is missing")));
}

/// Sets environment variables for one test.
class TrialContractTest : public ::testing::Test {
 protected:
  void Set(const char* name, const char* value) {
    ::setenv(name, value, 1);
    names_.push_back(name);
  }
  void TearDown() override {
    for (const char* name : names_) ::unsetenv(name);
  }

 private:
  std::vector<const char*> names_;
};

TEST_F(TrialContractTest, ReadsWhatTheWorkerSet) {
  Set("RUNG_PARAMS", R"({"lr": 0.5})");
  Set("RUNG_TRIAL_ID", "12.3");
  Set("RUNG_ATTEMPT", "2");
  Set("RUNG_CHECKPOINT_DIR", "/data/12.3");
  Set("RUNG_RESUME_FROM", "/data/12.3/step-8");
  Set("RUNG_RESUME_STEP", "8");
  Set("RUNG_MAX_STEP", "100");
  Set("RUNG_SEED", "18446744073709551615");
  Set("RANK", "1");
  Set("WORLD_SIZE", "2");
  const TrialContract contract = TrialContract::FromEnvironment();
  EXPECT_EQ(contract.params.at("lr"), 0.5);
  EXPECT_EQ(contract.trial_id, "12.3");
  EXPECT_EQ(contract.attempt, 2);
  EXPECT_EQ(contract.resume_from, std::filesystem::path("/data/12.3/step-8"));
  EXPECT_EQ(contract.resume_step, 8);
  EXPECT_EQ(contract.max_step, 100);
  EXPECT_EQ(contract.seed, 18446744073709551615u);
  EXPECT_EQ(contract.rank, 1);
  EXPECT_EQ(contract.world_size, 2);
}

TEST_F(TrialContractTest, WrongValuesNameTheirVariable) {
  Set("RUNG_MAX_STEP", "ten");
  EXPECT_THAT([] { TrialContract::FromEnvironment(); },
              ThrowsMessage<TrialError>(HasSubstr("RUNG_MAX_STEP")));
  Set("RUNG_MAX_STEP", "10");
  Set("RUNG_PARAMS", "[1]");
  EXPECT_THAT([] { TrialContract::FromEnvironment(); },
              ThrowsMessage<TrialError>(HasSubstr("RUNG_PARAMS")));
  Set("RUNG_PARAMS", "{}");
  Set("RANK", "2");
  Set("WORLD_SIZE", "2");
  EXPECT_THAT([] { TrialContract::FromEnvironment(); },
              ThrowsMessage<TrialError>(HasSubstr("below WORLD_SIZE 2, found 2")));
}

}  // namespace
}  // namespace rung::report
