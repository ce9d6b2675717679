#include "clients/cli/trial_socket.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "tests/clients/cli/fake_tuner.h"

namespace rung::cli {
namespace {

std::atomic<int> signals_handled = 0;

/// The worker's side of RUNG_SOCKET on a thread; the thread that made this asks, and is the one
/// that signals interrupt.
class TrialSocketTest : public testing::Test {
 protected:
  TrialSocketTest() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof(address.sun_path) - 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    listen(listener_, 1);
    struct sigaction counted {};
    counted.sa_handler = [](int) { ++signals_handled; };
    sigaction(SIGUSR1, &counted, &former_);
  }
  ~TrialSocketTest() override {
    if (worker_.joinable()) worker_.join();
    sigaction(SIGUSR1, &former_, nullptr);
    close(listener_);
  }

  std::string path() const { return home_.folder() / "s"; }

  /// Answers the line after `before_read` and `before_answer`.
  void Serve(std::function<void()> before_read, std::function<void()> before_answer) {
    worker_ = std::thread([this, before_read, before_answer] {
      const int peer = accept(listener_, nullptr, nullptr);
      before_read();
      char buffer[1 << 16];
      for (ssize_t size = 1; size > 0 && !line_.ends_with('\n');) {
        size = read(peer, buffer, sizeof(buffer));
        line_.append(buffer, static_cast<size_t>(std::max<ssize_t>(size, 0)));
      }
      before_answer();
      send(peer, "answer\n", 7, MSG_NOSIGNAL);
      close(peer);
    });
  }

  /// Interrupts the call in which the asking thread waits, and returns when it was interrupted.
  void Interrupt() const {
    const std::string file = "/proc/self/task/" + std::to_string(asker_id_) + "/stat";
    for (std::string stat; !Waits(stat);) {
      std::ifstream stream(file);
      stat.assign(std::istreambuf_iterator<char>(stream), {});
    }
    const int handled = signals_handled;
    pthread_kill(asker_, SIGUSR1);
    while (signals_handled == handled) std::this_thread::yield();
  }

  TemporaryHome home_;
  std::string line_;  ///< what was asked, once it was answered
  std::thread worker_;

 private:
  /// The state follows the name in parentheses; S: waits, and can be interrupted.
  static bool Waits(const std::string& stat) { return stat.find(") S ") != std::string::npos; }

  const pthread_t asker_ = pthread_self();
  const pid_t asker_id_ = gettid();
  struct sigaction former_ {};
  int listener_ = -1;
};

TEST_F(TrialSocketTest, AnInterruptedWaitForTheAnswerGoesOn) {
  Serve([] {}, [this] { Interrupt(); });
  const auto answer = AskTrialSocket(path(), "question", std::chrono::seconds(60));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, "answer");
}

TEST_F(TrialSocketTest, AnInterruptedSendGoesOn) {
  // Far above what the socket holds: the first signal ends a send that has sent a part, the second
  // one that has sent nothing.
  const std::string question(8 << 20, 'x');
  Serve(
      [this] {
        Interrupt();
        Interrupt();
      },
      [] {});
  const auto answer = AskTrialSocket(path(), question, std::chrono::seconds(60));
  ASSERT_TRUE(answer.ok()) << answer.status();
  worker_.join();
  EXPECT_EQ(line_, question + "\n");
}

}  // namespace
}  // namespace rung::cli
