#include "scheduler/server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iterator>
#include <utility>
#include <variant>

#include "core/check.h"
#include "scheduler/spec_json.h"

namespace rung {
namespace {

std::optional<ReplyToken> CallerOf(const Event& event) {
  return std::visit(
      [](const auto& e) -> std::optional<ReplyToken> {
        if constexpr (requires { e.reply; }) return e.reply;
        return std::nullopt;
      },
      event);
}

absl::Status StorageFails(const absl::Status& failure) {
  return absl::UnavailableError(
      fmt::format("the database cannot be written ({}); nothing was changed, reads still work, try "
                  "again",
                  std::string(failure.message())));
}

}  // namespace

Server::Server(const ServerConfig& config, const SchedulerConfig& scheduler_config,
               Storage& storage, MessageSink& sink, Clock clock)
    : config_(config),
      scheduler_config_(scheduler_config),
      storage_(storage),
      sink_(sink),
      clock_(std::move(clock)),
      queue_(config.events_waiting_max),
      running_time_(config.gap_max) {}

absl::Status Server::Post(Event event) {
  if (storage_fails_) return StorageFails(absl::UnavailableError("a commit failed"));
  if (queue_.Post(std::move(event))) return absl::OkStatus();
  if (queue_.closed()) return absl::UnavailableError("the scheduler is stopping; try again");
  return absl::UnavailableError(
      fmt::format("{} events wait already; try again", config_.events_waiting_max));
}

void Server::PostDisconnected(SessionId session) {
  // A closed queue means that the process ends: nobody needs to know any more.
  (void)queue_.PostLast(WorkerDisconnected{.session = session});
}

absl::Status Server::Restore() {
  absl::StatusOr<Snapshot> snapshot = storage_.Load();
  if (!snapshot.ok()) return snapshot.status();
  Scheduler scheduler(scheduler_config_);
  RUNG_RETURN_IF_ERROR(scheduler.Restore(
      *snapshot, Present(), ParseExperimentSpec,
      [this](ExperimentId experiment) { return storage_.LoadObjective(experiment); }));
  for (const auto& [id, why] : scheduler.not_loaded()) {
    spdlog::error("experiment {} is not loaded, its rows are as they were: {}", ToString(id), why);
  }
  scheduler_ = std::move(scheduler);
  return absl::OkStatus();
}

absl::Status Server::Run() {
  RUNG_CHECK(scheduler_.has_value());
  const absl::Status ended = Loop();
  queue_.Close();
  Refuse(queue_.Take(config_.events_waiting_max, absl::ZeroDuration()), ended);
  return ended;
}

absl::Status Server::Loop() {
  while (true) {
    std::vector<Event> events =
        queue_.Take(config_.events_per_commit_max, absl::FromChrono(config_.tick_interval));
    if (events.empty() && queue_.closed()) return absl::OkStatus();
    const Now now = Present();
    if (failures_.TakeOver(clock_().mono)) spdlog::warn("the database takes writes again");
    if (TickIsDue(now.mono)) events.emplace_back(Tick{});
    const absl::Status committed = CommitAndSend(events, now);
    if (committed.ok()) continue;
    if (absl::IsDataLoss(committed)) {
      Refuse(events, committed);
      return committed;
    }
    RUNG_RETURN_IF_ERROR(Recover(committed, events));
  }
}

absl::Status Server::CommitAndSend(const std::vector<Event>& events, Now now) {
  Output batch;
  for (const Event& event : events) {
    Output out = scheduler_->Step(event, now);
    std::move(out.writes.writes.begin(), out.writes.writes.end(),
              std::back_inserter(batch.writes.writes));
    std::move(out.messages.begin(), out.messages.end(), std::back_inserter(batch.messages));
  }
  if (!batch.writes.empty()) RUNG_RETURN_IF_ERROR(storage_.Commit(batch.writes));
  for (Message& message : batch.messages) sink_.Deliver(std::move(message));
  return absl::OkStatus();
}

absl::Status Server::Recover(const absl::Status& failure, const std::vector<Event>& events) {
  LogFailure(failure);
  storage_fails_ = true;
  scheduler_.reset();
  sink_.EndSessions();
  Refuse(events, StorageFails(failure));
  while (!queue_.closed()) {
    // What came in between the failure and the flag, and the streams that end now.
    Refuse(queue_.Take(config_.events_waiting_max, absl::FromChrono(config_.probe_interval)),
           StorageFails(failure));
    WriteBatch probe;
    probe.Add(EventRow{.experiment = {},
                       .trial = {},
                       .attempt = {},
                       .kind = "storage_recovered",
                       .message = fmt::format("commits failed: {}", std::string(failure.message())),
                       .time = clock_().wall});
    absl::Status recovered = storage_.Commit(probe);
    if (recovered.ok()) recovered = Restore();
    if (absl::IsDataLoss(recovered)) return recovered;
    if (!recovered.ok()) {
      LogFailure(recovered);
      continue;
    }
    storage_fails_ = false;
    return absl::OkStatus();
  }
  return failure;
}

void Server::LogFailure(const absl::Status& failure) {
  const std::optional<int64_t> quiet = failures_.Note(clock_().mono);
  if (!quiet) return;
  spdlog::error("the database takes no writes, serving reads only: {}{}",
                std::string(failure.message()),
                *quiet == 0 ? "" : fmt::format(" ({} tries since the last such line)", *quiet));
}

void Server::Refuse(const std::vector<Event>& events, const absl::Status& status) {
  for (const Event& event : events) {
    const std::optional<ReplyToken> caller = CallerOf(event);
    if (caller) sink_.Deliver(Reply{.token = *caller, .value = status});
  }
}

Now Server::Present() {
  Now now = clock_();
  now.mono = running_time_.At(now.mono);
  if (const auto gap = running_time_.last_gap(); gap.count() > 0) {
    spdlog::warn(
        "the loop made no turn for {:.1f} s more than it should; that counts as nobody's silence",
        std::chrono::duration<double>(gap).count());
  }
  return now;
}

bool Server::TickIsDue(MonoTime now) {
  if (last_tick_ && now - *last_tick_ < config_.tick_interval) return false;
  last_tick_ = now;
  return true;
}

}  // namespace rung
