#include "trial_runner/worker/trial_socket.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

#include "trial_runner/worker/trial_message.h"

namespace rung::worker {
namespace {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

constexpr size_t kReadBytes = 16 * 1'024;
/// What a dead rank can have left: the kernel's buffer, of at most a few hundred KiB.
constexpr size_t kDrainBytesMax = 8 << 20;
constexpr std::chrono::milliseconds kAcceptRetry{100};
/// In one turn of the loop, however fast a rank connects and closes.
constexpr size_t kAcceptsAtOnce = kConnectionsMax;
/// More than the kernel holds of a rank that is gone.
constexpr size_t kAcceptsAtEnd = 2 * kConnectionsMax;

}  // namespace

class TrialSocket::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(stream_protocol::socket socket, RequestTable& requests, const OnLine& on_line)
      : socket_(std::move(socket)), requests_(requests), on_line_(on_line) {
    error_code ignored;
    socket_.non_blocking(true, ignored);
  }
  ~Connection() { Close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool open() const { return socket_.is_open(); }

  void Start() { Continue(); }

  /// Says why and ends.
  void Refuse(const std::string& error) {
    closing_ = true;
    Write(ErrorLine(error));
  }

  void Close() {
    requests_.Forget(request_);
    error_code ignored;
    socket_.close(ignored);
  }

  void DrainAndClose() {
    requests_.Forget(std::exchange(request_, {}));
    error_code error;
    for (size_t drained = 0; !error && drained < kDrainBytesMax;) drained += ReadSome(error);
    for (std::string line; TakeLine(line);) on_line_({}, line);
    Close();
  }

 private:
  bool TakeLine(std::string& line) {
    const size_t end = input_.find('\n');
    if (end == std::string::npos || end > kLineBytesMax) return false;
    line = input_.substr(0, end);
    input_.erase(0, end + 1);
    return true;
  }

  size_t ReadSome(error_code& error) {
    std::array<char, kReadBytes> chunk;
    const size_t size = socket_.read_some(boost::asio::buffer(chunk), error);
    input_.append(chunk.data(), size);
    return size;
  }

  /// The next line, or more input.
  void Continue() {
    if (!socket_.is_open()) return;
    if (std::string line; TakeLine(line)) {
      request_ = requests_.Add([weak = weak_from_this()](std::string answer) {
        if (const auto self = weak.lock()) self->Write(std::move(answer));
      });
      on_line_(request_, line);
    } else if (input_.size() > kLineBytesMax) {
      Refuse(fmt::format("a line must have at most {} bytes", kLineBytesMax));
    } else {
      Read();
    }
  }

  /// Waits, then reads in one go: no input is ever in the hands of a handler that has not run yet,
  /// where DrainAndClose could not see it.
  void Read() {
    socket_.async_wait(stream_protocol::socket::wait_read,
                       [self = shared_from_this()](error_code error) {
                         if (!self->socket_.is_open()) return;
                         if (!error) self->ReadSome(error);
                         if (error && error != boost::asio::error::would_block) {
                           return self->Close();
                         }
                         self->Continue();
                       });
  }

  void Write(std::string answer) {
    request_ = {};
    output_ = std::move(answer) + "\n";
    boost::asio::async_write(socket_, boost::asio::buffer(output_),
                             [self = shared_from_this()](error_code, size_t) {
                               if (self->closing_) return self->Close();
                               // A client that left without its answer may have written more
                               // lines before: they count, as the end of its input ends this.
                               self->Continue();
                             });
  }

  stream_protocol::socket socket_;
  RequestTable& requests_;
  const OnLine& on_line_;
  RequestId request_;  ///< in work; 0: none
  bool closing_ = false;
  std::string input_;
  std::string output_;
};

absl::StatusOr<std::unique_ptr<TrialSocket>> TrialSocket::Open(boost::asio::io_context& io,
                                                               const std::string& path,
                                                               RequestTable& requests,
                                                               OnLine on_line) {
  if (path.size() > 107) {  // sun_path of Linux
    return absl::FailedPreconditionError(
        fmt::format("socket path '{}' has {} bytes, at most 107 are possible", path, path.size()));
  }
  std::unique_ptr<TrialSocket> socket(new TrialSocket(io, path, requests, std::move(on_line)));
  error_code error;
  socket->acceptor_.open(Protocol(), error);
  if (!error) socket->acceptor_.bind(Protocol::endpoint(path), error);
  if (!error && chmod(path.c_str(), 0600) != 0) {
    error = error_code(errno, boost::system::system_category());
  }
  if (!error) socket->acceptor_.listen(static_cast<int>(kConnectionsMax), error);
  if (!error) socket->acceptor_.non_blocking(true, error);
  if (error) {
    return absl::FailedPreconditionError(fmt::format("socket '{}': {}", path, error.message()));
  }
  socket->Accept();
  return socket;
}

TrialSocket::TrialSocket(boost::asio::io_context& io, std::string path, RequestTable& requests,
                         OnLine on_line)
    : path_(std::move(path)),
      requests_(requests),
      on_line_(std::move(on_line)),
      acceptor_(io),
      accept_retry_(io) {}

TrialSocket::~TrialSocket() {
  for (const auto& connection : connections_) connection->Close();
  if (acceptor_.is_open()) unlink(path_.c_str());
}

void TrialSocket::DrainAndClose() {
  if (!acceptor_.is_open()) return;
  AcceptWaiting(kAcceptsAtEnd);
  error_code ignored;
  acceptor_.close(ignored);
  unlink(path_.c_str());
  for (const auto& connection : connections_) {
    if (connection->open()) connection->DrainAndClose();
  }
  connections_.clear();
}

void TrialSocket::Accept() {
  const std::weak_ptr<bool> alive = alive_;
  acceptor_.async_wait(Protocol::acceptor::wait_read, [this, alive](error_code error) {
    if (error || alive.expired() || !acceptor_.is_open()) return;
    if (AcceptWaiting(kAcceptsAtOnce)) return Accept();
    // The connection goes on being ready, so that waiting for it would take all of the processor.
    accept_retry_.expires_after(kAcceptRetry);
    accept_retry_.async_wait([this, alive](error_code canceled) {
      if (!canceled && !alive.expired() && acceptor_.is_open()) Accept();
    });
  });
}

bool TrialSocket::AcceptWaiting(size_t accepts_max) {
  error_code error;
  for (size_t accepted = 0; !error && accepted < accepts_max; ++accepted) {
    Protocol::socket socket(acceptor_.get_executor());
    acceptor_.accept(socket, error);
    if (!error) Welcome(std::move(socket));
  }
  return !error || error == boost::asio::error::would_block;
}

void TrialSocket::Welcome(Protocol::socket socket) {
  std::erase_if(connections_, [](const auto& connection) { return !connection->open(); });
  const bool full = connections_.size() >= kConnectionsMax;
  auto connection = std::make_shared<Connection>(std::move(socket), requests_, on_line_);
  if (full) {  // not kept: it lives until its answer is written
    connection->Refuse(fmt::format("a rank may have at most {} connections", kConnectionsMax));
    return;
  }
  connections_.push_back(connection);
  connection->Start();
}

}  // namespace rung::worker
