#include "clients/cli/interrupt.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

namespace rung::cli {
namespace {

// A signal handler can reach nothing but statics, and may only call async-signal-safe functions.
std::array<char, 512> notice;
size_t notice_size = 0;

void OnInterrupt(int signal_number) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, notice.data(), notice_size);
  // SA_RESETHAND restored the default, which ends the process as soon as the handler returns.
  raise(signal_number);
}

}  // namespace

InterruptNotice::InterruptNotice(const std::string& message) {
  notice_size = std::min(message.size(), notice.size());
  std::memcpy(notice.data(), message.data(), notice_size);
  struct sigaction action {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptNotice::~InterruptNotice() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace rung::cli
