#include "scheduler/report_streams.h"

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "scheduler/client_codec.h"
#include "scheduler/proto_codec.h"

namespace rung {

/// One stream. gRPC owns it until OnDone, and so does each answer that is still to come: it may
/// arrive after the client left.
class ReportStreams::Stream final : public Reactor, public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(ReportStreams& streams) : streams_(streams) {}

  void Start(const absl::Status& refusal) {
    const absl::MutexLock lock(&mutex_);
    until_done_ = shared_from_this();
    if (!refusal.ok()) ending_ = ToGrpc(refusal);
    AdvanceLocked();
  }

  void End(const absl::Status& status) {
    const absl::MutexLock lock(&mutex_);
    if (!ending_) ending_ = ToGrpc(status);
    AdvanceLocked();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      const absl::MutexLock lock(&mutex_);
      reads_ = false;
      all_read_ = true;
      return AdvanceLocked();
    }
    auto answer = std::make_shared<std::optional<v1::ReportResponse>>();
    {
      const absl::MutexLock lock(&mutex_);
      answers_.push_back(answer);
    }
    const ReplyToken token = streams_.replies_.Add(
        [this, self = shared_from_this(), answer](const absl::StatusOr<ReplyValue>& value) {
          const absl::MutexLock lock(&mutex_);
          if (value.ok()) {
            answer->emplace(ReportToProto(*value));
          } else {
            answer->emplace().set_error(std::string(value.status().message()));
          }
          AdvanceLocked();
        });
    absl::StatusOr<Event> event = EventFromProto(token, incoming_);
    const absl::Status posted =
        event.ok() ? streams_.server_.Post(*std::move(event)) : event.status();
    {
      const absl::MutexLock lock(&mutex_);
      reads_ = false;
    }
    if (!posted.ok()) return streams_.replies_.Answer(token, posted);
    const absl::MutexLock lock(&mutex_);
    AdvanceLocked();
  }

  void OnWriteDone(bool ok) override {
    const absl::MutexLock lock(&mutex_);
    writes_ = false;
    answers_.pop_front();
    if (!ok && !ending_) ending_ = grpc::Status::CANCELLED;
    AdvanceLocked();
  }

  void OnCancel() override { End(absl::CancelledError("the stream broke")); }

  void OnDone() override {
    const std::shared_ptr<Stream> self = std::move(until_done_);
    const absl::MutexLock lock(&streams_.mutex_);
    streams_.streams_.erase(this);
  }

 private:
  /// Starts the next read while there is room, the next write, or the end.
  void AdvanceLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finished_) return;
    if (!ending_ && !writes_ && !answers_.empty() && answers_.front()->has_value()) {
      writes_ = true;
      StartWrite(&**answers_.front());
    }
    if (!ending_ && !reads_ && !all_read_ && answers_.size() < streams_.config_.window) {
      reads_ = true;
      StartRead(&incoming_);
    }
    if (!writes_ && (ending_ || (all_read_ && answers_.empty()))) {
      finished_ = true;
      Finish(ending_.value_or(grpc::Status::OK));
    }
  }

  ReportStreams& streams_;
  v1::ReportRequest incoming_;
  std::shared_ptr<Stream> until_done_;

  absl::Mutex mutex_;
  /// In the order of the requests; filled in as the answers come.
  std::deque<std::shared_ptr<std::optional<v1::ReportResponse>>> answers_ ABSL_GUARDED_BY(mutex_);
  bool reads_ ABSL_GUARDED_BY(mutex_) = false;
  bool writes_ ABSL_GUARDED_BY(mutex_) = false;
  bool all_read_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> ending_ ABSL_GUARDED_BY(mutex_);
};

ReportStreams::Reactor* ReportStreams::Open(const absl::Status& refusal) {
  const auto stream = std::make_shared<Stream>(*this);
  absl::Status status = refusal;
  {
    const absl::MutexLock lock(&mutex_);
    if (status.ok() && streams_.size() >= config_.streams_max) {
      status = absl::ResourceExhaustedError(
          fmt::format("{} report streams are open already, the most allowed", streams_.size()));
    }
    streams_.insert(stream.get());
  }
  stream->Start(status);
  return stream.get();
}

void ReportStreams::EndAll(const absl::Status& status) {
  const absl::MutexLock lock(&mutex_);
  for (Stream* stream : streams_) stream->End(status);
}

}  // namespace rung
