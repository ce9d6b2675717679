#include "trial_runner/worker/report_window.h"

#include <algorithm>
#include <utility>

namespace rung::worker {

void ReportWindow::Add(uint64_t report_id, RankReport report, bool connected, MonoTime now,
                       Effects& out) {
  const int32_t rank = report.rank;
  const Steps step = report.step;
  NoteReported(report);
  auto [it, inserted] = pending_.emplace(report_id, Pending{.report = std::move(report)});
  Pending& pending = it->second;
  pending.forwarded = Forwards(rank);
  pending.deadline = now + limits_.rank_wait;
  if (pending.forwarded) {
    if (connected) Send(report_id, pending, now, out);
  } else if (IsDecided(step) || rank0_reported_ > step || rank0_exited_) {
    GiveDecision(pending, /*durable=*/true, out);
  }
  if (rank == 0 && reduce_ == Reduce::kRank0) {
    for (auto& [id, follower] : pending_) {  // rank 0 is past their step and will never report it
      if (follower.report.rank != 0 && follower.waiting && follower.report.step < step) {
        GiveDecision(follower, /*durable=*/true, out);
      }
    }
  }
  ShortenWaits(now);
  EraseDone();
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
    Pending& pending = it->second;
    pending.forwarded = false;
    if (!answer.error.empty()) {
      if (pending.waiting) out.push_back(AnswerError{pending.report.request, answer.error});
      pending.waiting = false;
      continue;
    }
    last_stored_step_ = std::max(last_stored_step_, pending.report.step);
    if (pending.waiting) GiveDecision(pending, /*durable=*/true, out);
  }
  AnswerFollowers(/*durable=*/true, out);
  ShortenWaits(now);
  EraseDone();
}

void ReportWindow::Decide(Decision decision, MonoTime now, Effects& out) {
  if (decision_) return;
  decision_ = decision;
  decided_from_ = processes_ == 1 ? 0 : last_continued_ + 1;
  AnswerFollowers(/*durable=*/true, out);
  ShortenWaits(now);
  EraseDone();
}

void ReportWindow::OnRankExited(int32_t rank, MonoTime now, Effects& out) {
  rank_exited_ = true;
  if (rank == 0) rank0_exited_ = true;
  if (rank == 0 && reduce_ == Reduce::kRank0) {
    for (auto& [id, pending] : pending_) {
      if (pending.report.rank != 0 && pending.waiting) GiveDecision(pending, true, out);
    }
  }
  ShortenWaits(now);
  EraseDone();
}

void ReportWindow::DropRequests() {
  for (auto& [id, pending] : pending_) pending.waiting = false;
  EraseDone();
}

void ReportWindow::Resend(bool all, MonoTime now, Effects& out) {
  for (auto& [id, pending] : pending_) {
    if (!pending.forwarded) continue;
    if (all || now - pending.sent >= limits_.resend_interval) Send(id, pending, now, out);
  }
}

void ReportWindow::OnTime(MonoTime now, Effects& out) {
  for (auto& [id, pending] : pending_) {
    if (!pending.waiting || now < pending.deadline || !MayAnswerUnstored(pending)) continue;
    const bool durable = !pending.forwarded;
    GiveDecision(pending, durable, out);
    if (!durable) AnswerFollowers(durable, out);
  }
  EraseDone();
}

std::optional<MonoTime> ReportWindow::NextDeadline(bool connected) const {
  std::optional<MonoTime> next;
  const auto consider = [&](MonoTime time) { next = next ? std::min(*next, time) : time; };
  for (const auto& [id, pending] : pending_) {
    if (pending.waiting && MayAnswerUnstored(pending)) consider(pending.deadline);
    if (pending.forwarded && connected) consider(pending.sent + limits_.resend_interval);
  }
  return next;
}

bool ReportWindow::Delivered() const {
  return std::ranges::none_of(pending_, [](const auto& item) { return item.second.forwarded; });
}

Decision ReportWindow::AnswerFor(Steps step) const {
  if (const auto it = answered_.find(step); it != answered_.end()) return it->second;
  if (decision_ && step >= decided_from_) return *decision_;
  return Decision::kContinue;
}

bool ReportWindow::IsDecided(Steps step) const {
  return answered_.contains(step) || (decision_ && step >= decided_from_);
}

void ReportWindow::GiveDecision(Pending& pending, bool durable, Effects& out) {
  const Steps step = pending.report.step;
  const Decision decision = AnswerFor(step);
  if (processes_ > 1) {
    answered_.emplace(step, decision);
    if (answered_.size() > limits_.answered_steps_max) answered_.erase(answered_.begin());
    if (decision == Decision::kContinue) last_continued_ = std::max(last_continued_, step);
  }
  pending.waiting = false;
  out.push_back(AnswerDecision{pending.report.request, decision, durable});
}

void ReportWindow::AnswerFollowers(bool durable, Effects& out) {
  for (auto& [id, pending] : pending_) {
    if (Forwards(pending.report.rank) || !pending.waiting) continue;
    if (IsDecided(pending.report.step)) GiveDecision(pending, durable, out);
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
  for (const auto& [id, pending] : pending_) {
    if (pending.waiting) ranks.insert(pending.report.rank);
  }
  return ranks.size() == static_cast<size_t>(processes_);
}

void ReportWindow::ShortenWaits(MonoTime now) {
  const bool every_rank_waits = EveryRankWaits();
  for (auto& [id, pending] : pending_) {
    if (!pending.waiting || !pending.forwarded) continue;
    // Once the gang is told to end, a report waits for durability alone, not for other ranks.
    const bool ending = decision_ && pending.report.step >= decided_from_;
    if (IsComplete(pending.report) || ending || every_rank_waits) {
      pending.deadline = std::min(pending.deadline, now + limits_.report_wait);
    }
  }
}

void ReportWindow::Send(uint64_t id, Pending& pending, MonoTime now, Effects& out) const {
  pending.sent = now;
  out.push_back(
      TellReport{id, attempt_, pending.report.rank, pending.report.step, pending.report.metrics});
}

size_t ReportWindow::Undelivered(int32_t rank) const {
  return static_cast<size_t>(std::ranges::count_if(pending_, [&](const auto& item) {
    const Pending& pending = item.second;
    return pending.report.rank == rank && pending.forwarded && !pending.waiting;
  }));
}

bool ReportWindow::MayAnswerUnstored(const Pending& pending) const {
  return !pending.forwarded || Undelivered(pending.report.rank) < limits_.undelivered_max;
}

void ReportWindow::EraseDone() {
  std::erase_if(pending_,
                [](const auto& item) { return !item.second.waiting && !item.second.forwarded; });
}

}  // namespace rung::worker
