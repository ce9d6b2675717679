#include "trial_runner/worker/scheduler_session.h"

#include <fmt/format.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <utility>

namespace rung::worker {
namespace {

constexpr int kKeepaliveMs = 2'000;
constexpr int kReconnectBackoffMs = 1'000;
constexpr int kMessageBytesMax = 16 << 20;

}  // namespace

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectBackoffMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kReconnectBackoffMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectBackoffMs);
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

void AddToken(const std::string& token, grpc::ClientContext& context) {
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
}

SchedulerSession::SchedulerSession(std::shared_ptr<grpc::Channel> channel, SessionConfig config,
                                   Callbacks callbacks)
    : channel_(std::move(channel)),
      config_(std::move(config)),
      callbacks_(std::move(callbacks)),
      stub_(v1::Workers::NewStub(channel_)) {}

SchedulerSession::~SchedulerSession() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    if (context_ != nullptr) context_->TryCancel();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SchedulerSession::Start() {
  thread_ = std::thread([this] { Run(); });
}

void SchedulerSession::Send(uint64_t stream, v1::WorkerMessage message) {
  {
    const std::lock_guard lock(mutex_);
    if (!open_ || stream != stream_) return;
    if (outgoing_.size() >= config_.outgoing_messages_max) {
      context_->TryCancel();
      return;
    }
    outgoing_.push_back(std::move(message));
  }
  changed_.notify_all();
}

void SchedulerSession::Finish(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, timeout, [&] { return !open_; });
}

void SchedulerSession::Run() {
  do {
    // Short waits: the end of the session is looked at in between.
    const auto deadline = std::chrono::system_clock::now() + std::chrono::milliseconds(200);
    if (!channel_->WaitForConnected(deadline)) continue;
    SessionEnd end = RunStream();
    if (!Ending()) callbacks_.on_lost(stream_, std::move(end));
    if (!WaitToReconnect()) return;
  } while (!Ending());
}

SessionEnd SchedulerSession::RunStream() {
  grpc::ClientContext context;
  AddToken(config_.token.Secret(), context);
  const std::unique_ptr<Stream> stream = stub_->Session(&context);
  {
    const std::lock_guard lock(mutex_);
    if (ending_) context.TryCancel();
    context_ = &context;
    open_ = true;
    ++stream_;
    outgoing_.clear();
  }
  callbacks_.on_open(stream_);
  std::thread writer([&] { WriteQueued(*stream, context); });
  for (v1::SchedulerMessage message; stream->Read(&message);) {
    callbacks_.on_message(stream_, std::move(message));
    message.Clear();
  }
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  changed_.notify_all();
  writer.join();
  const grpc::Status status = stream->Finish();
  {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
  }
  if (status.ok()) return {.reason = "the scheduler ended the session"};
  const grpc::StatusCode code = status.error_code();
  return {.reason = fmt::format("{} (code {})", status.error_message(), static_cast<int>(code)),
          .refused = code == grpc::StatusCode::UNAUTHENTICATED ||
                     code == grpc::StatusCode::PERMISSION_DENIED};
}

void SchedulerSession::WriteQueued(Stream& stream, grpc::ClientContext& context) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !open_ || !outgoing_.empty() || ending_; });
    if (!open_) return;
    if (outgoing_.empty()) {
      lock.unlock();
      stream.WritesDone();
      return;
    }
    const v1::WorkerMessage message = std::move(outgoing_.front());
    outgoing_.pop_front();
    lock.unlock();
    const bool written = stream.Write(message);
    lock.lock();
    if (!written) {
      context.TryCancel();  // ends the Read as well
      return;
    }
  }
}

bool SchedulerSession::WaitToReconnect() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, config_.reconnect_wait, [&] { return ending_; });
  return !ending_;
}

bool SchedulerSession::Ending() {
  const std::lock_guard lock(mutex_);
  return ending_;
}

}  // namespace rung::worker
