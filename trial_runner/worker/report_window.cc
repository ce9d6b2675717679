#include "trial_runner/worker/report_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace rung::worker {

void ReportWindow::Add(uint64_t report_id, RankReport report, bool connected, MonoTime now,
                       Effects& out) {
  const int32_t rank = report.rank;
  const Steps step = report.step;
  NoteReported(report);
  const bool waits = report.request.value != 0;
  const bool forwarded = Forwards(rank);
  if (!waits && !forwarded) return;  // nobody reads its answer, and nobody records it
  pending_.emplace(report_id, Pending{.report = std::move(report),
                                      .forwarded = forwarded,
                                      .waiting = waits,
                                      .deadline = now + limits_.rank_wait});
  if (waits) waiting_.insert(report_id);
  if (forwarded) {
    Traffic& traffic = traffic_[rank];
    ++undelivered_;
    if (!waits) ++traffic.kept;
    traffic.unsent.insert(report_id);
    if (connected) SendNext(now, out);
  } else if (IsDecided(step) || rank0_reported_ > step || rank0_exited_) {
    GiveDecision(report_id, /*durable=*/true, out);
  }
  if (rank == 0 && reduce_ == Reduce::kRank0) {
    for (const uint64_t id : Waiting()) {  // rank 0 is past their step and will never report it
      const RankReport& follower = pending_.at(id).report;
      if (follower.rank != 0 && follower.step < step) GiveDecision(id, /*durable=*/true, out);
    }
  }
  ShortenWaits(now);
}

void ReportWindow::Answer(const ReportAnswered& answer, MonoTime now, Effects& out) {
  if (answer.decision != Decision::kContinue && !decision_) {
    decision_ = answer.decision;
    const bool too_late = processes_ > 1 && answer.step <= last_continued_;
    decided_from_ = processes_ == 1 ? 0 : too_late ? last_continued_ + 1 : answer.step;
  }
  for (const uint64_t id : answer.report_ids) {
    const auto it = pending_.find(id);
    if (it == pending_.end() || !it->second.forwarded) continue;
    const bool waiting = it->second.waiting;
    if (answer.error.empty()) {
      last_stored_step_ = std::max(last_stored_step_, it->second.report.step);
    } else if (waiting) {
      out.push_back(AnswerError{it->second.report.request, answer.error});
    } else {
      TellLateRefusal(it->second, answer.error, out);
    }
    EndForwarding(id);
    if (!waiting) continue;
    if (answer.error.empty()) {
      GiveDecision(id, /*durable=*/true, out);
    } else {
      EndWait(id);
    }
  }
  AnswerFollowers(/*durable=*/true, out);
  SendNext(now, out);
  ShortenWaits(now);
}

void ReportWindow::Decide(Decision decision, MonoTime now, Effects& out) {
  if (decision_) return;
  decision_ = decision;
  decided_from_ = processes_ == 1 ? 0 : last_continued_ + 1;
  AnswerFollowers(/*durable=*/true, out);
  ShortenWaits(now);
}

void ReportWindow::OnRankExited(int32_t rank, MonoTime now, Effects& out) {
  rank_exited_ = true;
  if (rank == 0) rank0_exited_ = true;
  if (rank == 0 && reduce_ == Reduce::kRank0) {
    for (const uint64_t id : Waiting()) {
      if (pending_.at(id).report.rank != 0) GiveDecision(id, /*durable=*/true, out);
    }
  }
  ShortenWaits(now);
}

void ReportWindow::DropRequests() {
  for (const uint64_t id : Waiting()) EndWait(id);
}

void ReportWindow::Resend(bool all, MonoTime now, Effects& out) {
  if (all) {
    for (const auto& [sent, id] : in_flight_) {
      Traffic& traffic = traffic_.at(pending_.at(id).report.rank);
      --traffic.in_flight;
      traffic.unsent.insert(id);
    }
    in_flight_.clear();
    return SendNext(now, out);
  }
  std::vector<uint64_t> due;
  for (const auto& [sent, id] : in_flight_) {
    if (now - sent < limits_.resend_interval) break;
    due.push_back(id);
  }
  std::ranges::sort(due);
  for (const uint64_t id : due) {
    in_flight_.erase(std::pair(pending_.at(id).sent, id));
    Send(id, now, out);
  }
}

void ReportWindow::OnTime(MonoTime now, Effects& out) {
  for (const uint64_t id : Waiting()) {
    const auto it = pending_.find(id);
    if (it == pending_.end() || !it->second.waiting) continue;  // answered with one before it
    if (now < it->second.deadline || !MayAnswerUnstored(it->second)) continue;
    const bool durable = !it->second.forwarded;
    GiveDecision(id, durable, out);
    if (!durable) AnswerFollowers(durable, out);
  }
}

std::optional<MonoTime> ReportWindow::NextDeadline(bool connected) const {
  std::optional<MonoTime> next;
  const auto consider = [&](MonoTime time) { next = next ? std::min(*next, time) : time; };
  for (const uint64_t id : waiting_) {
    const Pending& pending = pending_.at(id);
    if (MayAnswerUnstored(pending)) consider(pending.deadline);
  }
  if (connected && !in_flight_.empty()) {
    consider(in_flight_.begin()->first + limits_.resend_interval);
  }
  return next;
}

Decision ReportWindow::AnswerFor(Steps step) const {
  if (const auto it = answered_.find(step); it != answered_.end()) return it->second;
  if (decision_ && step >= decided_from_) return *decision_;
  return Decision::kContinue;
}

bool ReportWindow::IsDecided(Steps step) const {
  return answered_.contains(step) || (decision_ && step >= decided_from_);
}

void ReportWindow::GiveDecision(uint64_t id, bool durable, Effects& out) {
  const RankReport& report = pending_.at(id).report;
  const Decision decision = AnswerFor(report.step);
  if (processes_ > 1) {
    answered_.emplace(report.step, decision);
    if (decision == Decision::kContinue) last_continued_ = std::max(last_continued_, report.step);
    if (answered_.size() > limits_.answered_steps_max) answered_.erase(answered_.begin());
  }
  out.push_back(AnswerDecision{report.request, decision, durable});
  EndWait(id);
}

void ReportWindow::AnswerFollowers(bool durable, Effects& out) {
  for (const uint64_t id : Waiting()) {
    const RankReport& report = pending_.at(id).report;
    if (!Forwards(report.rank) && IsDecided(report.step)) GiveDecision(id, durable, out);
  }
}

void ReportWindow::NoteReported(const RankReport& report) {
  if (report.rank == 0) rank0_reported_ = std::max(rank0_reported_, report.step);
  if (report.step > last_reported_) {
    last_reported_ = report.step;
    reporters_.clear();
  }
  if (report.step == last_reported_ && reduce_ != Reduce::kRank0) {
    for (const MetricValue& metric : report.metrics) reporters_[metric.name].insert(report.rank);
  }
}

bool ReportWindow::IsComplete(const RankReport& report) const {
  if (reduce_ == Reduce::kRank0) return report.rank == 0;
  if (report.step < last_reported_ || rank_exited_) return true;
  return std::ranges::all_of(report.metrics, [&](const MetricValue& metric) {
    const auto it = reporters_.find(metric.name);
    return it != reporters_.end() && it->second.size() == static_cast<size_t>(processes_);
  });
}

bool ReportWindow::EveryRankWaits() const {
  std::set<int32_t> ranks;
  for (const uint64_t id : waiting_) ranks.insert(pending_.at(id).report.rank);
  return ranks.size() == static_cast<size_t>(processes_);
}

void ReportWindow::ShortenWaits(MonoTime now) {
  const bool every_rank_waits = EveryRankWaits();
  for (const uint64_t id : waiting_) {
    Pending& pending = pending_.at(id);
    if (!pending.forwarded) continue;
    // Once the gang is told to end, a report waits for durability alone, not for other ranks.
    const bool ending = decision_ && pending.report.step >= decided_from_;
    if (IsComplete(pending.report) || ending || every_rank_waits) {
      pending.deadline = std::min(pending.deadline, now + limits_.report_wait);
    }
  }
}

void ReportWindow::SendNext(MonoTime now, Effects& out) {
  std::vector<uint64_t> ids;
  for (auto& [rank, traffic] : traffic_) {
    while (!traffic.unsent.empty() && traffic.in_flight < limits_.in_flight_max) {
      ids.push_back(traffic.unsent.extract(traffic.unsent.begin()).value());
      ++traffic.in_flight;
    }
  }
  std::ranges::sort(ids);
  for (const uint64_t id : ids) Send(id, now, out);
}

void ReportWindow::Send(uint64_t id, MonoTime now, Effects& out) {
  Pending& pending = pending_.at(id);
  pending.sent = now;
  in_flight_.emplace(now, id);
  out.push_back(
      TellReport{id, attempt_, pending.report.rank, pending.report.step, pending.report.metrics});
}

bool ReportWindow::MayAnswerUnstored(const Pending& pending) const {
  return !pending.forwarded || traffic_.at(pending.report.rank).kept < limits_.undelivered_max;
}

void ReportWindow::EndWait(uint64_t id) {
  waiting_.erase(id);
  Pending& pending = pending_.at(id);
  pending.waiting = false;
  if (pending.forwarded) {
    ++traffic_.at(pending.report.rank).kept;
  } else {
    pending_.erase(id);
  }
}

void ReportWindow::EndForwarding(uint64_t id) {
  Pending& pending = pending_.at(id);
  Traffic& traffic = traffic_.at(pending.report.rank);
  pending.forwarded = false;
  --undelivered_;
  if (!pending.waiting) --traffic.kept;
  // An answer may come on a new stream to what was sent on an earlier one alone.
  if (traffic.unsent.erase(id) == 0) {
    --traffic.in_flight;
    in_flight_.erase(std::pair(pending.sent, id));
  }
  if (!pending.waiting) pending_.erase(id);
}

/// A report that its rank was told to be kept is lost: nothing else says so.
void ReportWindow::TellLateRefusal(const Pending& pending, const std::string& error, Effects& out) {
  if (++late_refusals_ > limits_.late_refusals_told_max) return;
  out.push_back(LogWarning{
      attempt_, fmt::format("the scheduler refused a report of rank {} (step {}) that was answered "
                            "before, so it is lost: {}{}",
                            pending.report.rank, pending.report.step, error,
                            late_refusals_ == limits_.late_refusals_told_max
                                ? "; further ones of this attempt are not logged"
                                : "")});
}

}  // namespace rung::worker
