#pragma once

#include <absl/status/statusor.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/worker/request_table.h"

/// The Unix socket of one rank: JSON lines, each answered by one (INTERFACES.md §3).
///
/// Each rank has its own, so that who speaks is certain. A connection has one line in work; the
/// next is read after its answer.
namespace rung::worker {

constexpr size_t kLineBytesMax = 1 << 20;
constexpr size_t kConnectionsMax = 16;

class TrialSocket {
 public:
  /// A line without its end, and the request that its answer goes to (0 when nobody is left to
  /// read it).
  using OnLine = std::function<void(RequestId request, std::string_view line)>;

  /// Listens on `path`, which must not exist; readable and writable by this user alone. `requests`
  /// outlives the socket. Errors: FAILED_PRECONDITION with the path and the system's reason.
  static absl::StatusOr<std::unique_ptr<TrialSocket>> Open(boost::asio::io_context& io,
                                                           const std::string& path,
                                                           RequestTable& requests, OnLine on_line);
  ~TrialSocket();
  TrialSocket(const TrialSocket&) = delete;
  TrialSocket& operator=(const TrialSocket&) = delete;

  /// For when every process of the rank is gone: hands over what they wrote and nobody has read
  /// yet, and closes the socket.
  void DrainAndClose();

 private:
  using Protocol = boost::asio::local::stream_protocol;
  class Connection;

  TrialSocket(boost::asio::io_context& io, std::string path, RequestTable& requests,
              OnLine on_line);
  void Accept();
  /// False when this process can open no more descriptors: who waits is left waiting.
  bool AcceptWaiting(size_t accepts_max);
  void Welcome(Protocol::socket socket);

  std::string path_;
  RequestTable& requests_;
  OnLine on_line_;
  Protocol::acceptor acceptor_;
  boost::asio::steady_timer accept_retry_;
  // Shared with the completion handlers of their reads and writes, which outlive the socket.
  std::vector<std::shared_ptr<Connection>> connections_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // tells handlers when it is gone
};

}  // namespace rung::worker
