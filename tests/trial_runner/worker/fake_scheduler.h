#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rung/v1/workers.grpc.pb.h"

namespace rung::worker {

/// The scheduler's end of Workers, driven by a test: a real gRPC server.
class FakeScheduler final : public v1::Workers::Service {
 public:
  using SessionStream = grpc::ServerReaderWriter<v1::SchedulerMessage, v1::WorkerMessage>;
  /// Answers each message of a session; runs on gRPC's threads, one message at a time.
  using Reply = std::function<std::vector<v1::SchedulerMessage>(const v1::WorkerMessage&)>;

  /// "/PATH" of a Unix socket, or "HOST:PORT".
  explicit FakeScheduler(const std::string& address)
      : address_(address.starts_with('/') ? "unix:" + address : address) {}
  ~FakeScheduler() override { Stop(); }

  void Start(Reply reply) {
    reply_ = std::move(reply);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials(), &port_);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 500);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  void Stop() {
    if (!server_) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
  }

  int port() const { return port_; }
  /// From now on sessions are ended with this status, or, when OK, none is.
  void Refuse(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    refusal_ = status;
    if (!status.ok() && context_ != nullptr) context_->TryCancel();
  }
  /// Returns when `count` sessions were refused.
  void AwaitRefusals(int count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return refusals_ >= count; }));
  }

  void Send(const v1::SchedulerMessage& message) {
    const std::lock_guard lock(mutex_);
    if (stream_ != nullptr) stream_->Write(message);
  }

  /// The first message, of all that came so far or will come, that `wanted` likes.
  v1::WorkerMessage Await(const std::function<bool(const v1::WorkerMessage&)>& wanted) {
    std::unique_lock lock(mutex_);
    const v1::WorkerMessage* found = nullptr;
    const auto look = [&] {
      for (const v1::WorkerMessage& message : messages_) {
        if (wanted(message)) found = &message;
        if (found != nullptr) return true;
      }
      return false;
    };
    if (!changed_.wait_for(lock, kPatience, look)) {
      ADD_FAILURE() << "the worker did not say it; it said:";
      for (const v1::WorkerMessage& message : messages_) {
        if (!message.has_heartbeat()) ADD_FAILURE() << message.ShortDebugString();
      }
      return {};
    }
    return *found;
  }
  v1::AttemptExited AwaitExit(int32_t trial) {
    return Await([&](const v1::WorkerMessage& m) {
             return m.has_attempt_exited() && m.attempt_exited().attempt().trial_number() == trial;
           })
        .attempt_exited();
  }
  /// The whole log of a fetch, when its stream has ended.
  std::string AwaitLog(uint64_t fetch_id, std::string* error) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return logs_[fetch_id].ended; });
    EXPECT_TRUE(logs_[fetch_id].ended);
    if (error != nullptr) *error = logs_[fetch_id].error;
    return logs_[fetch_id].data;
  }
  void AwaitLogPart(uint64_t fetch_id, const std::string& part) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] {
      return logs_[fetch_id].data.find(part) != std::string::npos;
    })) << logs_[fetch_id].data;
  }
  void ForgetMessages() {
    const std::lock_guard lock(mutex_);
    messages_.clear();
  }

  grpc::Status Session(grpc::ServerContext* context, SessionStream* stream) override {
    {
      const std::lock_guard lock(mutex_);
      if (!refusal_.ok()) {
        ++refusals_;
        changed_.notify_all();
        return refusal_;
      }
      stream_ = stream;
      context_ = context;
    }
    for (v1::WorkerMessage message; stream->Read(&message);) {
      const std::lock_guard lock(mutex_);
      messages_.push_back(message);
      for (const v1::SchedulerMessage& answer : reply_(message)) stream->Write(answer);
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    stream_ = nullptr;
    context_ = nullptr;
    return grpc::Status::OK;
  }
  grpc::Status UploadLog(grpc::ServerContext*, grpc::ServerReader<v1::UploadLogRequest>* reader,
                         v1::UploadLogResponse*) override {
    uint64_t id = 0;
    for (v1::UploadLogRequest request; reader->Read(&request);) {
      const std::lock_guard lock(mutex_);
      id = request.fetch_id();
      logs_[id].data += request.data();
      logs_[id].error += request.error();
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    logs_[id].ended = true;
    changed_.notify_all();
    return grpc::Status::OK;
  }

 private:
  static constexpr std::chrono::seconds kPatience{30};  // only a hang takes that long

  struct Log {
    std::string data;
    std::string error;
    bool ended = false;
  };

  std::string address_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  Reply reply_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  SessionStream* stream_ = nullptr;
  grpc::ServerContext* context_ = nullptr;  ///< of the stream
  grpc::Status refusal_;
  int refusals_ = 0;
  std::vector<v1::WorkerMessage> messages_;
  std::map<uint64_t, Log> logs_;
};

}  // namespace rung::worker
