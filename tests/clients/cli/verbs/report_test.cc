#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <thread>

#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

/// The worker's side of RUNG_SOCKET: takes one connection, keeps its line, gives one answer.
class OneAnswer {
 public:
  OneAnswer(const std::filesystem::path& path, std::string answer) : answer_(std::move(answer)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    fd_ = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    listen(fd_, 1);
    setenv("RUNG_SOCKET", path.c_str(), 1);
    thread_ = std::thread([this] { Serve(); });
  }
  ~OneAnswer() {
    if (thread_.joinable()) thread_.join();
    close(fd_);
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;

  /// What was asked; waits until it was answered.
  const std::string& line() {
    thread_.join();
    return line_;
  }

 private:
  void Serve() {
    const int peer = accept(fd_, nullptr, nullptr);
    char c = 0;
    while (read(peer, &c, 1) == 1 && c != '\n') line_ += c;
    // In two pieces: an answer need not come in one.
    const std::string first = answer_.substr(0, answer_.size() / 2);
    send(peer, first.data(), first.size(), MSG_NOSIGNAL);
    const std::string rest = answer_.substr(answer_.size() / 2);
    send(peer, rest.data(), rest.size(), MSG_NOSIGNAL);
    close(peer);
  }

  std::string answer_;
  std::string line_;
  int fd_ = -1;
  std::thread thread_;
};

class ReportTest : public testing::Test {
 protected:
  TemporaryHome home_;
};

TEST_F(ReportTest, SendsTheReportAndPrintsTheDecision) {
  OneAnswer worker(home_.folder() / "s", "{\"decision\": \"continue\"}\n");
  const CommandResult result = RunCommand({"report", "--step", "10", "accuracy=0.81", "loss=nan"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "continue\n");
  EXPECT_EQ(worker.line(), R"({"report":{"step":10,"metrics":{"accuracy":0.81,"loss":"nan"}}})");
}

TEST_F(ReportTest, ExitsWithThreeWhenTheTrialShallEnd) {
  for (const std::string decision : {"stop", "pause"}) {
    OneAnswer worker(home_.folder() / decision, "{\"decision\": \"" + decision + "\"}\n");
    const CommandResult result =
        RunCommand({"report", "--step", "10", "loss=1e-3", "--count", "32"});
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.out, decision + "\n");
    EXPECT_EQ(worker.line(), R"({"report":{"step":10,"metrics":{"loss":0.001},"count":32}})");
  }
}

TEST_F(ReportTest, SaysWhenTheReportIsNotDurableYet) {
  OneAnswer worker(home_.folder() / "s", "{\"decision\": \"continue\", \"durable\": false}\n");
  const CommandResult result = RunCommand({"report", "--step", "10", "accuracy=0.81"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "continue\n");
  EXPECT_EQ(result.err,
            "rung: the scheduler has not answered; the worker keeps the report and delivers it "
            "later\n");
}

TEST_F(ReportTest, PrintsARefusal) {
  OneAnswer worker(home_.folder() / "s", "{\"error\": \"step 3 is below 10\"}\n");
  const CommandResult result = RunCommand({"report", "--step", "3", "loss=1"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err, "rung: the report was refused: step 3 is below 10\n");
}

TEST_F(ReportTest, FailsWhenNobodyAnswers) {
  OneAnswer worker(home_.folder() / "s", "");
  EXPECT_EQ(RunCommand({"report", "--step", "3", "loss=1"}).status, 1);
  setenv("RUNG_SOCKET", (home_.folder() / "absent").c_str(), 1);
  const CommandResult absent = RunCommand({"report", "--step", "3", "loss=1"});
  EXPECT_EQ(absent.status, 1);
  EXPECT_NE(absent.err.find("cannot connect: No such file"), std::string::npos) << absent.err;
}

TEST_F(ReportTest, RefusesWhatIsNoMetric) {
  for (const std::string metric : {"loss", "loss=", "loss=x", "=1", "loss=1x"}) {
    const CommandResult result = RunCommand({"report", "--step", "3", metric});
    EXPECT_EQ(result.status, 2) << metric;
    EXPECT_EQ(result.err, "rung: '" + metric +
                              "': must be NAME=NUMBER, such as accuracy=0.81 (nan, inf and -inf "
                              "are allowed)\n");
  }
  EXPECT_EQ(RunCommand({"report", "--step", "3", "a=1", "a=2"}).err, "rung: 'a' is given twice\n");
  EXPECT_EQ(RunCommand({"report", "a=1"}).status, 2);  // no step
}

TEST_F(ReportTest, SaysThatItWorksInsideATrial) {
  const CommandResult result = RunCommand({"report", "--step", "3", "loss=1"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err,
            "rung: RUNG_SOCKET is not set: `rung report` works inside a trial that rung started\n");
}

}  // namespace
}  // namespace rung::cli
