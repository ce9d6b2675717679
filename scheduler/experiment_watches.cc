#include "scheduler/experiment_watches.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "proto/utf8.h"
#include "scheduler/proto_codec.h"
#include "scheduler/summary_codec.h"

namespace rung {
namespace {

bool IsFinal(v1::ExperimentState state) {
  return state == v1::EXPERIMENT_STATE_COMPLETED || state == v1::EXPERIMENT_STATE_STOPPED ||
         state == v1::EXPERIMENT_STATE_FAILED;
}

}  // namespace

/// One stream: idle, reading the database, or writing. gRPC owns it until OnDone, and so does a
/// read that has not ended yet.
class ExperimentWatches::Stream final : public Reactor,
                                        public std::enable_shared_from_this<Stream> {
 public:
  Stream(ExperimentId experiment, std::chrono::milliseconds interval, ExperimentWatches& watches)
      : experiment_(experiment), interval_(interval), watches_(watches) {}

  void Start(const absl::Status& refusal) {
    until_done_ = shared_from_this();
    if (!refusal.ok()) End(refusal);
    Poll(watches_.clock_().mono);
  }

  void Changed() {
    const absl::MutexLock lock(&mutex_);
    changed_ = true;
  }

  void Poll(MonoTime now) {
    const absl::MutexLock lock(&mutex_);
    const auto quiet_max = std::max(watches_.config_.quiet_max, interval_);
    const bool due = !sent_ || now - *sent_ >= (changed_ ? interval_ : quiet_max);
    if (busy_ || ending_ || !due) return;
    // A pool without room is no error here: the next poll asks again.
    busy_ = watches_.pool_.Post([self = shared_from_this()] { self->Look(); }).ok();
    if (!busy_) return;
    changed_ = false;
    sent_ = now;
  }

  void End(const absl::Status& status) {
    const absl::MutexLock lock(&mutex_);
    EndLocked(status);
  }

  void OnWriteDone(bool ok) override {
    const absl::MutexLock lock(&mutex_);
    busy_ = false;
    if (!ok) EndLocked(absl::CancelledError("the stream broke"));
    if (final_) EndLocked(absl::OkStatus());
    FinishIfIdleLocked();
  }

  void OnCancel() override { End(absl::CancelledError("the watcher left")); }

  void OnDone() override {
    const std::shared_ptr<Stream> self = std::move(until_done_);
    const absl::MutexLock lock(&watches_.mutex_);
    std::erase_if(watches_.streams_, [this](const auto& entry) { return entry.second == this; });
  }

 private:
  /// On a thread of the pool.
  void Look() {
    absl::StatusOr<v1::WatchExperimentResponse> response = watches_.Look(experiment_);
    const absl::MutexLock lock(&mutex_);
    if (!response.ok() || ending_) {
      busy_ = false;
      EndLocked(response.status());
      return FinishIfIdleLocked();
    }
    response_ = *std::move(response);
    final_ = IsFinal(response_.experiment().state());
    StartWrite(&response_);
  }

  void EndLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!ending_) ending_ = ToGrpc(status);
    FinishIfIdleLocked();
  }

  void FinishIfIdleLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!ending_ || busy_ || finished_) return;
    finished_ = true;
    Finish(*ending_);
  }

  const ExperimentId experiment_;
  const std::chrono::milliseconds interval_;
  ExperimentWatches& watches_;
  std::shared_ptr<Stream> until_done_;

  absl::Mutex mutex_;
  bool changed_ ABSL_GUARDED_BY(mutex_) = false;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool final_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<MonoTime> sent_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> ending_ ABSL_GUARDED_BY(mutex_);
  v1::WatchExperimentResponse response_;  ///< the pool's while reading, then the write's
};

ExperimentWatches::ExperimentWatches(const ExperimentWatchesConfig& config,
                                     const DatabaseReader& reader, ReadPool& pool,
                                     Server::Clock clock)
    : config_(config), reader_(reader), pool_(pool), clock_(std::move(clock)) {}

ExperimentWatches::Reactor* ExperimentWatches::Open(ExperimentId experiment,
                                                    std::chrono::milliseconds interval,
                                                    const absl::Status& refusal) {
  const auto stream = std::make_shared<Stream>(experiment, interval, *this);
  absl::Status status = refusal;
  {
    const absl::MutexLock lock(&mutex_);
    if (status.ok() && streams_.size() >= config_.watches_max) {
      status = absl::ResourceExhaustedError(
          fmt::format("{} experiments are watched already, the most allowed", streams_.size()));
    }
    streams_.emplace(experiment, stream.get());
  }
  stream->Start(status);
  return stream.get();
}

void ExperimentWatches::Changed(ExperimentId experiment) {
  const absl::MutexLock lock(&mutex_);
  const auto [begin, end] = streams_.equal_range(experiment);
  for (auto entry = begin; entry != end; ++entry) entry->second->Changed();
}

void ExperimentWatches::Poll() {
  const MonoTime now = clock_().mono;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [experiment, stream] : streams_) stream->Poll(now);
}

void ExperimentWatches::EndAll(const absl::Status& status) {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [experiment, stream] : streams_) stream->End(status);
}

absl::StatusOr<v1::WatchExperimentResponse> ExperimentWatches::Look(ExperimentId experiment) const {
  constexpr int32_t kActiveTrialsMax = 100;
  const absl::StatusOr<ExperimentSummary> summary =
      reader_.GetExperiment(experiment, clock_().wall);
  if (!summary.ok()) return summary.status();
  v1::WatchExperimentResponse response;
  *response.mutable_experiment() = ToProto(*summary);
  const absl::StatusOr<Page<TrialSummary>> trials =
      reader_.ListTrials({.experiment = experiment,
                          .order = TrialOrder::kNumber,
                          .states = {TrialState::kRunning, TrialState::kQueued},
                          .page = {.size = kActiveTrialsMax, .token = {}}});
  if (!trials.ok()) return trials.status();
  for (const TrialSummary& trial : trials->items) *response.add_active_trials() = ToProto(trial);
  const ExperimentState state = summary->experiment.state;
  if (state == ExperimentState::kPaused || state == ExperimentState::kFailed) {
    const absl::StatusOr<std::optional<LogTailRow>> tail = reader_.LastStderr(experiment);
    if (!tail.ok()) return tail.status();
    if (*tail) response.set_last_stderr(ValidUtf8((*tail)->text));
  }
  return response;
}

}  // namespace rung
