#include "clients/cli/trial_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rung::cli {
namespace {

constexpr size_t kAnswerBytesMax = 64 << 10;

class Socket {
 public:
  Socket() : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

absl::Status Failed(const std::string& path, std::string_view what) {
  return absl::UnavailableError(
      fmt::format("RUNG_SOCKET {}: {}: {}", path, what, std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::string> AskTrialSocket(const std::string& path, const std::string& line,
                                           std::chrono::milliseconds timeout) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        fmt::format("RUNG_SOCKET {}: longer than {} bytes", path, sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const Socket socket;
  // The timeout is that of each single call; one report makes few of them. With one, a call ends
  // with EINTR when the process was stopped and goes on, handler or not (signal(7)): job control
  // and batch systems do that. Its time begins anew then, as a stopped process does not wait.
  const timeval limit{.tv_sec = timeout.count() / 1000, .tv_usec = timeout.count() % 1000 * 1000};
  setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (TEMP_FAILURE_RETRY(connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address),
                                 sizeof(address))) != 0) {
    return Failed(path, "cannot connect");
  }
  const std::string sent = line + "\n";
  for (size_t done = 0; done < sent.size();) {
    const ssize_t size =
        TEMP_FAILURE_RETRY(send(socket.fd(), sent.data() + done, sent.size() - done, MSG_NOSIGNAL));
    if (size <= 0) return Failed(path, "cannot send");
    done += static_cast<size_t>(size);
  }
  std::string answer;
  char buffer[4096];
  while (answer.find('\n') == std::string::npos) {
    const ssize_t size = TEMP_FAILURE_RETRY(recv(socket.fd(), buffer, sizeof(buffer), 0));
    if (size == 0) return absl::UnavailableError(fmt::format("RUNG_SOCKET {}: closed", path));
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return absl::DeadlineExceededError(
          fmt::format("RUNG_SOCKET {}: no answer within {} s", path, timeout.count() / 1000));
    }
    if (size < 0) return Failed(path, "cannot receive");
    answer.append(buffer, static_cast<size_t>(size));
    if (answer.size() > kAnswerBytesMax) {
      return absl::ResourceExhaustedError(fmt::format("RUNG_SOCKET {}: answer too long", path));
    }
  }
  return answer.substr(0, answer.find('\n'));
}

}  // namespace rung::cli
