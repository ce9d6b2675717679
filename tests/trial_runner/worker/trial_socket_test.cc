#include "trial_runner/worker/trial_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <deque>
#include <filesystem>

namespace rung::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A blocking client. Its writes fit the kernel's buffer, so one thread can play both ends.
class Client {
 public:
  explicit Client(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { Close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  bool connected() const { return connected_; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  /// As many bytes as the kernel takes now.
  size_t Write(std::string_view text) {
    const ssize_t size = send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return size < 0 ? 0 : static_cast<size_t>(size);
  }
  /// What is there without waiting; `(end)` at its end.
  std::string Read() {
    std::string text;
    char buffer[4096];
    ssize_t size = 0;
    while ((size = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT)) > 0) {
      text.append(buffer, static_cast<size_t>(size));
    }
    // Reset: it was closed with input that nobody read.
    return size == 0 || errno == ECONNRESET ? text + "(end)" : text;
  }

 private:
  int fd_;
  bool connected_ = false;
};

class TrialSocketTest : public ::testing::Test {
 protected:
  TrialSocketTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-sock-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ + "/s";
    socket_ = TrialSocket::Open(io_, path_, requests_, [this](RequestId id, std::string_view line) {
                lines_.emplace_back(line);
                if (answer_) requests_.Reply(id, "re: " + std::string(line.substr(0, 20)));
                waiting_.push_back(id);
              }).value();
  }
  ~TrialSocketTest() override {
    socket_.reset();
    Settle();
    std::filesystem::remove_all(folder_);
  }
  /// Runs handlers until none is ready.
  void Settle() {
    io_.restart();
    while (io_.poll() > 0) {
    }
  }

  std::string folder_;
  std::string path_;
  RequestTable requests_;
  boost::asio::io_context io_;
  std::vector<std::string> lines_;
  std::deque<RequestId> waiting_;
  bool answer_ = true;
  std::unique_ptr<TrialSocket> socket_;
};

TEST_F(TrialSocketTest, EachLineIsAnsweredByOne) {
  Client client(path_);
  client.Write("a\nb\n");
  Settle();
  EXPECT_EQ(client.Read(), "re: a\nre: b\n");
  client.Write("c");
  Settle();
  client.Write("d\n");
  Settle();
  EXPECT_EQ(client.Read(), "re: cd\n");
}

TEST_F(TrialSocketTest, OnlyThisUserMayConnect) {
  struct stat status {};
  stat(path_.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(TrialSocketTest, NextLineIsReadAfterTheAnswer) {
  answer_ = false;
  Client client(path_);
  client.Write("a\nb\n");
  Settle();
  EXPECT_THAT(lines_, ElementsAre("a"));
  requests_.Reply(waiting_[0], "one");
  Settle();
  EXPECT_THAT(lines_, ElementsAre("a", "b"));
  EXPECT_EQ(client.Read(), "one\n");
}

TEST_F(TrialSocketTest, AnswerToAClientThatLeftIsDropped) {
  answer_ = false;
  Client client(path_);
  client.Write("a\n");
  Settle();
  client.Close();
  requests_.Reply(waiting_[0], "one");
  requests_.Reply(waiting_[0], "twice");
  Settle();
}

TEST_F(TrialSocketTest, LinesOfAClientThatLeftAreReadThoughTheirAnswersCannotBeWritten) {
  answer_ = false;
  {
    Client client(path_);
    client.Write("a\nb\nc\n");
  }
  Settle();
  ASSERT_THAT(lines_, ElementsAre("a"));
  answer_ = true;
  requests_.Reply(waiting_.front(), "re: a");  // a broken pipe
  Settle();
  EXPECT_THAT(lines_, ElementsAre("a", "b", "c"));
}

TEST_F(TrialSocketTest, LineOverOneMebibyteIsRefusedAndTheConnectionClosed) {
  Client client(path_);
  const std::string block(64 << 10, 'x');
  for (size_t sent = 0; sent <= kLineBytesMax;) {
    sent += client.Write(block);
    Settle();
  }
  EXPECT_THAT(client.Read(), HasSubstr("at most 1048576 bytes\"}\n(end)"));
  EXPECT_TRUE(lines_.empty());
  Client next(path_);
  next.Write("a\n");
  Settle();
  EXPECT_EQ(next.Read(), "re: a\n");
}

TEST_F(TrialSocketTest, SeventeenthConnectionIsRefusedUntilOneEnds) {
  std::vector<std::unique_ptr<Client>> clients;
  for (size_t i = 0; i < kConnectionsMax; ++i) {
    clients.push_back(std::make_unique<Client>(path_));
    Settle();
  }
  Client refused(path_);
  Settle();
  EXPECT_THAT(refused.Read(), HasSubstr("at most 16 connections\"}\n(end)"));
  clients.pop_back();
  Settle();
  Client accepted(path_);
  accepted.Write("a\n");
  Settle();
  EXPECT_EQ(accepted.Read(), "re: a\n");
}

TEST_F(TrialSocketTest, OneTurnOfTheLoopAcceptsSixteenConnectionsAtMost) {
  std::vector<std::unique_ptr<Client>> clients;
  for (size_t i = 0; i <= kConnectionsMax; ++i) clients.push_back(std::make_unique<Client>(path_));
  io_.poll_one();
  EXPECT_EQ(clients.back()->Read(), "");  // it waits: neither welcome nor refused
  Settle();
  EXPECT_THAT(clients.back()->Read(), HasSubstr("at most 16 connections"));
}

TEST_F(TrialSocketTest, WithoutADescriptorItWaitsAndAcceptsLater) {
  Client client(path_);
  client.Write("a\n");
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const int lowest_free = dup(0);
  close(lowest_free);
  rlimit used_up = before;
  used_up.rlim_cur = static_cast<rlim_t>(lowest_free);
  setrlimit(RLIMIT_NOFILE, &used_up);
  int turns = 0;
  while (turns < 100 && io_.poll_one() > 0) ++turns;
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_LT(turns, 100);  // else it would run for ever
  std::string answer;
  while (answer.empty()) {
    io_.run_one();
    answer = client.Read();
  }
  EXPECT_EQ(answer, "re: a\n");
}

TEST_F(TrialSocketTest, DrainHandsOverWhatDeadClientsWrote) {
  answer_ = false;
  Client known(path_);
  known.Write("a\nb\nc");
  Settle();
  known.Close();
  Client unknown(path_);  // in the backlog: not accepted yet
  unknown.Write("d\n");
  unknown.Close();
  socket_->DrainAndClose();
  EXPECT_THAT(lines_, ElementsAre("a", "b", "d"));  // c is no line
  EXPECT_EQ(waiting_[1], RequestId{});
  EXPECT_FALSE(Client(path_).connected());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TrialSocketTest, PathThatTheKernelCannotTakeIsAnError) {
  const auto opened = TrialSocket::Open(io_, "/tmp/" + std::string(120, 'x'), requests_,
                                        [](RequestId, std::string_view) {});
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("at most 107"));
}

}  // namespace
}  // namespace rung::worker
