#include "scheduler/worker_sessions.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "proto/version.h"
#include "scheduler/proto_codec.h"

namespace rung {
/// One stream. gRPC calls its On… methods one at a time for reads and one at a time for writes;
/// Send and End come from any thread.
class WorkerSessions::Stream final : public Reactor {
 public:
  Stream(SessionId id, MonoTime opened, WorkerSessions& sessions,
         grpc::CallbackServerContext& context)
      : id_(id), opened_(opened), sessions_(sessions), context_(context) {}

  void Start() { StartRead(&incoming_); }

  void Send(v1::SchedulerMessage message) {
    const absl::MutexLock lock(&mutex_);
    if (ending_) return;
    if (outgoing_.size() >= sessions_.config_.outgoing_messages_max) {
      EndLocked(absl::ResourceExhaustedError(
          fmt::format("the worker leaves {} messages unread", outgoing_.size())));
      context_.TryCancel();  // the write in progress may never end otherwise
      return;
    }
    outgoing_.push_back(std::move(message));
    AdvanceLocked();
  }

  void End(const absl::Status& status) {
    const absl::MutexLock lock(&mutex_);
    EndLocked(status);
  }

  bool owes_hello_since(MonoTime time) const {
    const absl::MutexLock lock(&mutex_);
    return worker_.empty() && opened_ <= time;
  }
  std::string worker() const {
    const absl::MutexLock lock(&mutex_);
    return ending_ ? "" : worker_;
  }

  void OnReadDone(bool ok) override {
    if (!ok) return End(absl::CancelledError("the worker ended the session"));
    const absl::Status taken = Take(incoming_);
    if (!taken.ok()) return End(taken);
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    const absl::MutexLock lock(&mutex_);
    writing_ = false;
    outgoing_.pop_front();
    if (!ok) EndLocked(absl::CancelledError("the stream broke"));
    AdvanceLocked();
  }

  void OnCancel() override { End(absl::CancelledError("the stream broke")); }

  void OnDone() override {
    {
      const absl::MutexLock lock(&sessions_.mutex_);
      sessions_.streams_.erase(id_.value);
    }
    if (greeted_) sessions_.server_.PostDisconnected(id_);
    delete this;
  }

 private:
  absl::Status Take(const v1::WorkerMessage& message) {
    if (message.has_hello() == greeted_) {
      return absl::InvalidArgumentError(
          "the first message of a session must be Hello, and only it");
    }
    absl::StatusOr<Event> event = EventFromProto(id_, message);
    if (!event.ok() && message.has_report()) {
      Send(RefusedReport(message.report(), event.status()));
      return absl::OkStatus();
    }
    if (!event.ok()) return event.status();
    if (!greeted_) {
      const WorkerInfo& worker = std::get<WorkerConnected>(*event).worker;
      absl::Status fits =
          CheckVersions({"the worker", worker.version}, {"the scheduler", RUNG_VERSION});
      if (!fits.ok()) return fits;
      const absl::MutexLock lock(&mutex_);
      worker_ = worker.name;
      greeted_ = true;
    }
    return sessions_.server_.Post(*std::move(event));
  }

  void EndLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (ending_) return;
    ending_ = ToGrpc(status);
    if (!worker_.empty()) sessions_.LogEnd(worker_, std::string(status.message()));
    AdvanceLocked();
  }

  /// Starts what comes next, once the write in progress is done.
  void AdvanceLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || finished_) return;
    if (ending_) {
      finished_ = true;
      Finish(*ending_);
    } else if (!outgoing_.empty()) {
      writing_ = true;
      StartWrite(&outgoing_.front());
    }
  }

  const SessionId id_;
  const MonoTime opened_;
  WorkerSessions& sessions_;
  grpc::CallbackServerContext& context_;
  v1::WorkerMessage incoming_;
  bool greeted_ = false;  ///< read and written by the reading side alone, and after it by OnDone

  mutable absl::Mutex mutex_;
  std::string worker_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::SchedulerMessage> outgoing_ ABSL_GUARDED_BY(mutex_);  ///< front: being written
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> ending_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

WorkerSessions::WorkerSessions(const WorkerSessionsConfig& config, Server& server,
                               Server::Clock clock)
    : config_(config), server_(server), clock_(std::move(clock)) {}

WorkerSessions::Reactor* WorkerSessions::Open(grpc::CallbackServerContext* context,
                                              const absl::Status& refusal) {
  Stream* stream = nullptr;
  absl::Status status = refusal;
  {
    const absl::MutexLock lock(&mutex_);
    const SessionId id{++last_session_};
    stream = new Stream(id, clock_().mono, *this, *context);
    if (status.ok() && streams_.size() >= config_.sessions_max) {
      status = absl::ResourceExhaustedError(
          fmt::format("{} workers are connected already, the most allowed", streams_.size()));
    }
    streams_.emplace(id.value, stream);
  }
  if (status.ok()) {
    stream->Start();
  } else {
    stream->End(status);
  }
  return stream;
}

void WorkerSessions::Send(SessionId session, const WorkerCommand& command) {
  const absl::MutexLock lock(&mutex_);
  const auto found = streams_.find(session.value);
  if (found == streams_.end()) return;
  if (const auto* refuse = std::get_if<RefuseWorker>(&command)) {
    found->second->End(absl::FailedPreconditionError(refuse->reason));
  } else {
    found->second->Send(ToProto(command, config_.times));
  }
}

bool WorkerSessions::SendTo(std::string_view worker, v1::SchedulerMessage message) {
  const absl::MutexLock lock(&mutex_);
  for (auto stream = streams_.rbegin(); stream != streams_.rend(); ++stream) {
    if (stream->second->worker() != worker) continue;
    stream->second->Send(std::move(message));
    return true;
  }
  return false;
}

void WorkerSessions::EndAll(const absl::Status& status) {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [id, stream] : streams_) stream->End(status);
}

void WorkerSessions::LogEnd(const std::string& worker, const std::string& reason) {
  constexpr size_t kEndsMax = 1'000;
  std::optional<int64_t> quiet;
  {
    const absl::MutexLock lock(&log_mutex_);
    if (ends_.size() >= kEndsMax) ends_.clear();
    quiet = ends_[{worker, reason}].Note(clock_().mono);
  }
  if (!quiet) return;
  spdlog::info("session of worker {} ends: {}{}", worker, reason,
               *quiet == 0 ? "" : fmt::format(" ({} times since the last such line)", *quiet));
}

void WorkerSessions::Poll() {
  const MonoTime now = clock_().mono;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [id, stream] : streams_) {
    if (stream->owes_hello_since(now - config_.hello_timeout)) {
      stream->End(absl::DeadlineExceededError(
          fmt::format("the first message of a session must be Hello, within {} s",
                      config_.hello_timeout.count() / 1000)));
    }
  }
}

}  // namespace rung
