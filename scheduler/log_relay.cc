#include "scheduler/log_relay.h"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "scheduler/proto_codec.h"

namespace rung {

/// What a client's stream and a worker's stream share; gone once both are.
struct LogRelay::Fetch {
  uint64_t id = 0;
  LogQuery query;
  MonoTime opened;
  Source source;                      ///< empty until it was looked up
  std::deque<std::string> pieces;     ///< from the worker, not yet written to the client
  size_t bytes = 0;                   ///< of `pieces`
  bool asked = false;                 ///< FetchLog was sent
  bool answered = false;              ///< an upload has begun
  std::optional<absl::Status> ended;  ///< nothing comes after `pieces`
  ReaderStream* reader = nullptr;
  UploadStream* upload = nullptr;

  void End(const absl::Status& status) {
    if (!ended) ended = status;
  }
  v1::SchedulerMessage FetchLog(bool cancel) const {
    v1::SchedulerMessage message;
    v1::FetchLog& fetch = *message.mutable_fetch_log();
    fetch.set_fetch_id(id);
    *fetch.mutable_attempt() = ToProto(source.attempt);
    fetch.set_rank(query.rank);
    fetch.set_follow(query.follow);
    fetch.set_cancel(cancel);
    return message;
  }
};

/// The worker's side.
class LogRelay::UploadStream final : public Upload {
 public:
  explicit UploadStream(LogRelay& relay) : relay_(relay) {}

  void Refuse(const absl::Status& status) {
    const absl::MutexLock lock(&relay_.mutex_);
    FinishLocked(status);
  }
  void Start() { StartRead(&incoming_); }

  void ResumeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(relay_.mutex_) {
    if (!waits_ || finished_) return;
    waits_ = false;
    StartRead(&incoming_);
  }
  void FinishLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(relay_.mutex_) {
    if (finished_) return;
    finished_ = true;
    Finish(ToGrpc(status));
  }

  void OnReadDone(bool ok) override;
  void OnCancel() override {
    const absl::MutexLock lock(&relay_.mutex_);
    broken_ = true;
    FinishLocked(absl::CancelledError("the stream broke"));
  }
  void OnDone() override;

 private:
  absl::Status TakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(relay_.mutex_);

  LogRelay& relay_;
  v1::UploadLogRequest incoming_;
  Fetch* fetch_ ABSL_GUARDED_BY(relay_.mutex_) = nullptr;
  bool waits_ ABSL_GUARDED_BY(relay_.mutex_) = false;  ///< the buffer is full
  bool broken_ ABSL_GUARDED_BY(relay_.mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(relay_.mutex_) = false;
};

/// The client's side. It finishes only while it neither looks up the database nor writes.
class LogRelay::ReaderStream final : public Reader {
 public:
  ReaderStream(Fetch& fetch, LogRelay& relay) : fetch_(fetch), relay_(relay) {}

  void Start() {
    const absl::Status posted = relay_.pool_.Post([this] { LookUp(); });
    const absl::MutexLock lock(&relay_.mutex_);
    if (posted.ok()) return;
    looks_up_ = false;
    fetch_.End(posted);
    AdvanceLocked();
  }
  void Refuse(const absl::Status& status) {
    const absl::MutexLock lock(&relay_.mutex_);
    looks_up_ = false;
    fetch_.End(status);
    AdvanceLocked();
  }

  /// Starts what comes next.
  void AdvanceLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(relay_.mutex_) {
    if (looks_up_ || writes_ || finished_) return;
    if (!left_ && !fetch_.pieces.empty()) {
      response_.set_data(std::move(fetch_.pieces.front()));
      response_.set_worker(fetch_.source.worker);
      fetch_.pieces.pop_front();
      fetch_.bytes -= response_.data().size();
      writes_ = true;
      StartWrite(&response_);
      if (fetch_.upload != nullptr && fetch_.bytes < relay_.config_.buffered_bytes_max) {
        fetch_.upload->ResumeLocked();
      }
    } else if (left_ || fetch_.ended) {
      finished_ = true;
      Finish(left_ ? grpc::Status::CANCELLED : ToGrpc(*fetch_.ended));
    }
  }
  bool left() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(relay_.mutex_) { return left_ || finished_; }

  void OnWriteDone(bool ok) override {
    const absl::MutexLock lock(&relay_.mutex_);
    writes_ = false;
    if (!ok) LeaveLocked();
    AdvanceLocked();
  }
  void OnCancel() override {
    const absl::MutexLock lock(&relay_.mutex_);
    LeaveLocked();
    AdvanceLocked();
  }
  void OnDone() override {
    {
      const absl::MutexLock lock(&relay_.mutex_);
      fetch_.reader = nullptr;
      if (fetch_.upload == nullptr) relay_.fetches_.erase(fetch_.id);
    }
    delete this;
  }

 private:
  /// On a thread of the pool.
  void LookUp() {
    absl::StatusOr<Source> source = relay_.FindSource(fetch_.query);
    const absl::MutexLock lock(&relay_.mutex_);
    looks_up_ = false;
    if (source.ok()) {
      fetch_.source = *std::move(source);
      AskLocked();
    } else {
      fetch_.End(source.status());
    }
    AdvanceLocked();
  }

  void AskLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(relay_.mutex_) {
    const Source& from = fetch_.source;
    fetch_.asked = !left_ && relay_.sessions_.SendTo(from.worker, fetch_.FetchLog(false));
    if (fetch_.asked) return;
    if (from.stored_tail) {
      fetch_.pieces.push_back(*from.stored_tail);
      fetch_.bytes += from.stored_tail->size();
      return fetch_.End(absl::OkStatus());
    }
    fetch_.End(absl::UnavailableError(
        fmt::format("the log of {} is on worker \"{}\", which is not connected; try again when it "
                    "is (rung workers)",
                    ToString(from.attempt), from.worker)));
  }

  void LeaveLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(relay_.mutex_) {
    if (left_) return;
    left_ = true;
    if (fetch_.asked && !fetch_.ended) {
      relay_.sessions_.SendTo(fetch_.source.worker, fetch_.FetchLog(true));
    }
    if (fetch_.upload != nullptr) {
      fetch_.upload->FinishLocked(absl::CancelledError("the reader left"));
    }
  }

  Fetch& fetch_;
  LogRelay& relay_;
  v1::StreamLogsResponse response_;
  bool looks_up_ ABSL_GUARDED_BY(relay_.mutex_) = true;
  bool writes_ ABSL_GUARDED_BY(relay_.mutex_) = false;
  bool left_ ABSL_GUARDED_BY(relay_.mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(relay_.mutex_) = false;
};

void LogRelay::UploadStream::OnReadDone(bool ok) {
  const absl::MutexLock lock(&relay_.mutex_);
  if (!ok) return FinishLocked(absl::OkStatus());
  const absl::Status taken = TakeLocked();
  if (!taken.ok()) return FinishLocked(taken);
  waits_ = true;  // until there is room: AdvanceLocked may make some
  fetch_->reader->AdvanceLocked();
  if (fetch_->bytes < relay_.config_.buffered_bytes_max) ResumeLocked();
}

absl::Status LogRelay::UploadStream::TakeLocked() {
  constexpr size_t kDataBytesMax = 64 * 1'024;
  if (fetch_ == nullptr) {
    const auto found = relay_.fetches_.find(incoming_.fetch_id());
    if (found == relay_.fetches_.end() || found->second->upload != nullptr) {
      return absl::NotFoundError(
          fmt::format("nobody waits for the log fetch {}", incoming_.fetch_id()));
    }
    fetch_ = found->second.get();
    fetch_->upload = this;
    fetch_->answered = true;
  }
  if (fetch_->reader == nullptr || fetch_->reader->left()) {
    return absl::CancelledError("the reader left");
  }
  absl::StatusOr<std::string> data = TextFromProto("data", incoming_.data(), kDataBytesMax);
  if (!data.ok()) return data.status();
  if (!incoming_.error().empty()) {
    fetch_->End(absl::UnavailableError(
        fmt::format("worker \"{}\": {}", fetch_->source.worker, incoming_.error())));
    return absl::OkStatus();
  }
  if (!data->empty()) {
    fetch_->bytes += data->size();
    fetch_->pieces.push_back(*std::move(data));
  }
  return absl::OkStatus();
}

void LogRelay::UploadStream::OnDone() {
  {
    const absl::MutexLock lock(&relay_.mutex_);
    if (fetch_ != nullptr) {
      fetch_->upload = nullptr;
      fetch_->End(broken_ ? absl::UnavailableError(
                                fmt::format("worker \"{}\" went away", fetch_->source.worker))
                          : absl::OkStatus());
      if (fetch_->reader != nullptr) {
        fetch_->reader->AdvanceLocked();
      } else {
        relay_.fetches_.erase(fetch_->id);
      }
    }
  }
  delete this;
}

LogRelay::LogRelay(const LogRelayConfig& config, const DatabaseReader& reader, ReadPool& pool,
                   WorkerSessions& sessions, Server::Clock clock)
    : config_(config),
      reader_(reader),
      pool_(pool),
      sessions_(sessions),
      clock_(std::move(clock)) {}

LogRelay::~LogRelay() = default;

LogRelay::Reader* LogRelay::OpenReader(const LogQuery& query, const absl::Status& refusal) {
  absl::Status status = refusal;
  ReaderStream* stream = nullptr;
  {
    const absl::MutexLock lock(&mutex_);
    if (status.ok() && fetches_.size() >= config_.fetches_max) {
      status = absl::ResourceExhaustedError(
          fmt::format("{} logs are read already, the most allowed", fetches_.size()));
    }
    auto fetch = std::make_unique<Fetch>();
    fetch->id = ++last_fetch_;
    fetch->query = query;
    fetch->opened = clock_().mono;
    stream = new ReaderStream(*fetch, *this);
    fetch->reader = stream;
    fetches_.emplace(fetch->id, std::move(fetch));
  }
  if (status.ok()) {
    stream->Start();
  } else {
    stream->Refuse(status);
  }
  return stream;
}

LogRelay::Upload* LogRelay::OpenUpload(const absl::Status& refusal) {
  auto* stream = new UploadStream(*this);
  if (refusal.ok()) {
    stream->Start();
  } else {
    stream->Refuse(refusal);
  }
  return stream;
}

void LogRelay::Poll() {
  const MonoTime patience = clock_().mono - config_.first_data_timeout;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [id, fetch] : fetches_) {
    if (!fetch->asked || fetch->answered || fetch->opened > patience) continue;
    fetch->End(absl::UnavailableError(
        fmt::format("worker \"{}\" did not answer; try again", fetch->source.worker)));
    if (fetch->reader != nullptr) fetch->reader->AdvanceLocked();
  }
}

void LogRelay::EndAll(const absl::Status& status) {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [id, fetch] : fetches_) {
    fetch->End(status);
    if (fetch->reader != nullptr) fetch->reader->AdvanceLocked();
    if (fetch->upload != nullptr) fetch->upload->FinishLocked(status);
  }
}

absl::StatusOr<LogRelay::Source> LogRelay::FindSource(const LogQuery& query) const {
  absl::StatusOr<TrialDetail> detail = reader_.GetTrial(query.trial, clock_().wall);
  if (!detail.ok()) return detail.status();
  if (detail->attempts.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("trial {} has not been started yet", ToString(query.trial)));
  }
  const int32_t wanted = query.attempt.value_or(detail->attempts.back().attempt.id.attempt);
  for (const AttemptDetail& attempt : detail->attempts) {
    if (attempt.attempt.id.attempt != wanted) continue;
    const AttemptRow& row = attempt.attempt;
    if (row.workers.empty()) {
      return absl::FailedPreconditionError(
          fmt::format("{} runs outside the workers: its log is with its client, {}",
                      ToString(row.id), row.owner));
    }
    if (query.rank >= row.processes) {
      return absl::InvalidArgumentError(
          fmt::format("rank: must be from 0 to {}, found {}", row.processes - 1, query.rank));
    }
    // An attempt runs on one worker; the column is a list for gangs over several.
    Source source{.attempt = row.id,
                  .worker = row.workers.substr(0, row.workers.find(',')),
                  .stored_tail = {}};
    for (const LogTailRow& tail : attempt.log_tails) {
      if (tail.rank == query.rank) source.stored_tail = tail.text;
    }
    return source;
  }
  return absl::NotFoundError(fmt::format("trial {} has attempts 0 to {}, not {}",
                                         ToString(query.trial),
                                         detail->attempts.back().attempt.id.attempt, wanted));
}

}  // namespace rung
