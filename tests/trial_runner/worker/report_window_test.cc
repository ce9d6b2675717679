#include "trial_runner/worker/report_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace rung::worker {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr AttemptId kAttempt{.trial = {.experiment = {1}, .number = {2}}, .attempt = 0};

/// What one rank was answered, as a word: `continue`, `stop`, `continue, not durable`, `error: …`.
std::string Word(const Effect& effect) {
  if (const auto* answer = std::get_if<AnswerDecision>(&effect)) {
    return std::string(ToString(answer->decision)) + (answer->durable ? "" : ", not durable");
  }
  if (const auto* answer = std::get_if<AnswerError>(&effect)) return "error: " + answer->error;
  return "";
}

uint64_t RequestOf(const Effect& effect) {
  if (const auto* answer = std::get_if<AnswerDecision>(&effect)) return answer->request.value;
  if (const auto* answer = std::get_if<AnswerError>(&effect)) return answer->request.value;
  return 0;
}

class ReportWindowTest : public ::testing::Test {
 protected:
  void Make(int32_t processes, Reduce reduce) {
    window_.emplace(kAttempt, processes, reduce, limits_);
  }

  /// A report with one request; its number is that of the report. Returns it.
  uint64_t Report(int32_t rank, Steps step, std::vector<MetricValue> metrics = {{.name = "loss"}}) {
    return Add(rank, step, {reports_ + 1}, std::move(metrics));
  }
  /// A report of a rank that is gone: nobody reads its answer.
  uint64_t LeftReport(int32_t rank, Steps step) { return Add(rank, step, {0}, {{.name = "loss"}}); }
  uint64_t Add(int32_t rank, Steps step, RequestId request, std::vector<MetricValue> metrics) {
    const uint64_t id = ++reports_;
    Effects out;
    window_->Add(id,
                 {.attempt = kAttempt,
                  .rank = rank,
                  .request = request,
                  .step = step,
                  .metrics = std::move(metrics)},
                 connected_, now_, out);
    Collect(out);
    return id;
  }
  void Answer(Steps step, std::vector<uint64_t> ids, Decision decision = Decision::kContinue,
              std::string error = "") {
    Effects out;
    window_->Answer({.attempt = kAttempt,
                     .step = step,
                     .report_ids = std::move(ids),
                     .decision = decision,
                     .error = std::move(error)},
                    now_, out);
    Collect(out);
  }
  void Decide(Decision decision) {
    Effects out;
    window_->Decide(decision, now_, out);
    Collect(out);
  }
  void RankExits(int32_t rank) {
    Effects out;
    window_->OnRankExited(rank, now_, out);
    Collect(out);
  }
  void Pass(milliseconds time) {
    now_ += time;
    Effects out;
    window_->OnTime(now_, out);
    Collect(out);
  }
  /// What a new stream is told.
  std::vector<uint64_t> SentAgain() {
    sent_.clear();
    Effects out;
    window_->Resend(/*all=*/true, now_, out);
    Collect(out);
    return sent_;
  }
  /// The answer to a request; empty while it waits.
  std::string Answered(uint64_t request) const {
    const auto it = answers_.find(request);
    return it == answers_.end() ? "" : it->second;
  }

  Limits limits_;
  MonoTime now_{};
  bool connected_ = true;
  std::optional<ReportWindow> window_;
  std::vector<uint64_t> sent_;
  std::vector<std::string> warnings_;

 private:
  void Collect(const Effects& effects) {
    for (const Effect& effect : effects) {
      if (const auto* report = std::get_if<TellReport>(&effect)) sent_.push_back(report->report_id);
      if (const auto* warning = std::get_if<LogWarning>(&effect)) {
        warnings_.push_back(warning->text);
      }
      if (const uint64_t request = RequestOf(effect); request != 0) {
        EXPECT_FALSE(answers_.contains(request)) << "request " << request << " answered twice";
        answers_[request] = Word(effect);
      }
    }
  }
  uint64_t reports_ = 0;
  std::map<uint64_t, std::string> answers_;
};

// ---- one process ----

TEST_F(ReportWindowTest, RankIsAnsweredWhatTheSchedulerDecides) {
  Make(1, Reduce::kRank0);
  const uint64_t first = Report(0, 1);
  EXPECT_THAT(sent_, ElementsAre(first));
  EXPECT_EQ(Answered(first), "");
  Answer(1, {first});
  EXPECT_EQ(Answered(first), "continue");
  const uint64_t second = Report(0, 2);
  Answer(2, {second}, Decision::kStop);
  EXPECT_EQ(Answered(second), "stop");
  EXPECT_TRUE(window_->Delivered());
  EXPECT_EQ(window_->last_stored_step(), 2);
}

TEST_F(ReportWindowTest, WithoutTheSchedulerRankGoesOnAfterReportWaitAndReportIsKept) {
  Make(1, Reduce::kRank0);
  connected_ = false;
  const uint64_t id = Report(0, 1);
  EXPECT_THAT(sent_, IsEmpty());
  Pass(milliseconds(1'999));
  EXPECT_EQ(Answered(id), "");
  Pass(milliseconds(1));
  EXPECT_EQ(Answered(id), "continue, not durable");
  EXPECT_FALSE(window_->Delivered());
  Effects out;
  window_->Resend(/*all=*/true, now_, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(std::get<TellReport>(out[0]).report_id, id);
}

TEST_F(ReportWindowTest, LateDecisionAnswersTheNextReport) {
  Make(1, Reduce::kRank0);
  const uint64_t first = Report(0, 10);
  Pass(milliseconds(2'000));
  EXPECT_EQ(Answered(first), "continue, not durable");
  Answer(10, {first}, Decision::kPause);
  const uint64_t second = Report(0, 11);
  EXPECT_EQ(Answered(second), "");  // told once it is durable
  Answer(11, {second});
  EXPECT_EQ(Answered(second), "pause");
}

TEST_F(ReportWindowTest, AfterADecisionEveryFurtherReportIsAnsweredWithIt) {
  Make(1, Reduce::kRank0);
  Answer(10, {Report(0, 10)}, Decision::kStop);
  const uint64_t durable = Report(0, 11);
  Answer(11, {durable}, Decision::kContinue);
  EXPECT_EQ(Answered(durable), "stop");
  const uint64_t unanswered = Report(0, 12);
  Pass(milliseconds(2'000));
  EXPECT_EQ(Answered(unanswered), "stop, not durable");
}

TEST_F(ReportWindowTest, RefusedReportIsAnErrorAndChangesNothing) {
  Make(1, Reduce::kRank0);
  const uint64_t id = Report(0, 5);
  Answer(5, {id}, Decision::kContinue, "step 5 is lower than 9");
  EXPECT_EQ(Answered(id), "error: step 5 is lower than 9");
  EXPECT_TRUE(window_->Delivered());
  EXPECT_EQ(window_->last_stored_step(), 0);
}

TEST_F(ReportWindowTest, SixtyFiveUndeliveredReportsAreOneTooMany) {
  Make(1, Reduce::kRank0);
  connected_ = false;
  std::vector<uint64_t> ids;
  for (Steps step = 1; step <= 64; ++step) {
    ids.push_back(Report(0, step));
    Pass(milliseconds(2'000));
    EXPECT_EQ(Answered(ids.back()), "continue, not durable");
  }
  const uint64_t waits = Report(0, 65);
  Pass(milliseconds(3'600'000));
  EXPECT_EQ(Answered(waits), "");
  EXPECT_EQ(window_->NextDeadline(/*connected=*/false), std::nullopt);  // no timer spins meanwhile
  Answer(1, {ids[0]});
  Pass(milliseconds(0));
  EXPECT_EQ(Answered(waits), "continue, not durable");
}

TEST_F(ReportWindowTest, AnswerToARepeatedReportIsIgnored) {
  Make(1, Reduce::kRank0);
  const uint64_t id = Report(0, 1);
  Answer(1, {id});
  Answer(1, {id, 4711});
  EXPECT_EQ(Answered(id), "continue");
}

TEST_F(ReportWindowTest, UnansweredReportIsSentAgainAfterTheInterval) {
  Make(1, Reduce::kRank0);
  Report(0, 1);
  Effects out;
  now_ += limits_.resend_interval - milliseconds(1);
  window_->Resend(/*all=*/false, now_, out);
  EXPECT_THAT(out, IsEmpty());
  now_ += milliseconds(1);
  window_->Resend(/*all=*/false, now_, out);
  EXPECT_EQ(out.size(), 1u);
}

TEST_F(ReportWindowTest, ReportThatIsRefusedAfterItsAnswerIsLogged) {
  limits_.late_refusals_told_max = 2;
  Make(1, Reduce::kRank0);
  std::vector<uint64_t> ids;
  for (Steps step = 1; step <= 3; ++step) {
    ids.push_back(Report(0, step));
    Pass(milliseconds(2'000));
    EXPECT_EQ(Answered(ids.back()), "continue, not durable");
  }
  Answer(1, {ids[0]}, Decision::kContinue, "metrics_per_trial");
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("rank 0 (step 1)"));
  EXPECT_THAT(warnings_[0], HasSubstr("metrics_per_trial"));
  Answer(2, {ids[1], ids[2]}, Decision::kContinue, "metrics_per_trial");
  EXPECT_THAT(warnings_, SizeIs(2));  // the limit
  EXPECT_TRUE(window_->Delivered());
}

// ---- ranks that are gone ----

TEST_F(ReportWindowTest, ReportsOfADeadRankAreSentAWindowAtATime) {
  limits_.in_flight_max = 3;
  Make(1, Reduce::kRank0);
  for (Steps step = 1; step <= 5'000; ++step) LeftReport(0, step);
  EXPECT_THAT(sent_, ElementsAre(1, 2, 3));
  // Nobody waits: only the repetition has a time.
  EXPECT_EQ(window_->NextDeadline(/*connected=*/false), std::nullopt);
  EXPECT_EQ(window_->NextDeadline(/*connected=*/true), now_ + limits_.resend_interval);
  Answer(1, {1});
  EXPECT_THAT(sent_, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(SentAgain(), ElementsAre(2, 3, 4));
  for (uint64_t id = 2; id <= 5'000; ++id) Answer(static_cast<Steps>(id), {id});
  EXPECT_TRUE(window_->Delivered());
  EXPECT_EQ(window_->last_stored_step(), 5'000);
}

TEST_F(ReportWindowTest, FullWindowOfARankHoldsNoOther) {
  limits_.in_flight_max = 2;
  Make(2, Reduce::kMean);
  for (Steps step = 1; step <= 4; ++step) LeftReport(0, step);
  const uint64_t other = Report(1, 1);
  EXPECT_THAT(sent_, ElementsAre(1, 2, other));
}

TEST_F(ReportWindowTest, ANewStreamIsToldInTheOrderOfArrival) {
  Make(2, Reduce::kMean);
  connected_ = false;
  // A value is complete when one of its ranks goes on: the order is part of what is said.
  const std::vector<std::pair<int32_t, Steps>> arrivals{{0, 1}, {1, 1}, {1, 2}, {0, 2}};
  for (const auto& [rank, step] : arrivals) Report(rank, step);
  EXPECT_THAT(SentAgain(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(SentAgain(), ElementsAre(1, 2, 3, 4));
}

TEST_F(ReportWindowTest, AnswerOnANewStreamToWhatTheOldOneWasToldCounts) {
  limits_.in_flight_max = 1;
  Make(1, Reduce::kRank0);
  LeftReport(0, 1);
  LeftReport(0, 2);
  EXPECT_THAT(SentAgain(), ElementsAre(1));
  Answer(2, {2});  // waits for room in the new stream
  EXPECT_THAT(sent_, ElementsAre(1));
  Answer(1, {1});
  EXPECT_TRUE(window_->Delivered());
}

TEST_F(ReportWindowTest, DeadFollowersReportIsForgottenAtOnce) {
  Make(2, Reduce::kRank0);
  LeftReport(1, 5);
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_TRUE(window_->Delivered());
  EXPECT_EQ(window_->NextDeadline(/*connected=*/true), std::nullopt);
}

// ---- gangs, rank0 ----

TEST_F(ReportWindowTest, OnlyRankZeroIsForwardedAndAllGetItsAnswer) {
  Make(3, Reduce::kRank0);
  const uint64_t early = Report(1, 10);
  const uint64_t leader = Report(0, 10);
  EXPECT_THAT(sent_, ElementsAre(leader));
  EXPECT_EQ(Answered(early), "");
  Answer(10, {leader}, Decision::kStop);
  EXPECT_EQ(Answered(early), "stop");
  EXPECT_EQ(Answered(leader), "stop");
  EXPECT_EQ(Answered(Report(2, 10)), "stop");  // a late rank is told the same at once
}

TEST_F(ReportWindowTest, RankWhoseValueIsNotCompleteWaitsRankWait) {
  Make(2, Reduce::kRank0);
  const uint64_t follower = Report(1, 10);
  Pass(milliseconds(59'999));
  EXPECT_EQ(Answered(follower), "");
  Pass(milliseconds(1));
  EXPECT_EQ(Answered(follower), "continue");
}

TEST_F(ReportWindowTest, DecisionAfterOneRankWentOnIsTheAnswerToALaterStep) {
  Make(2, Reduce::kRank0);
  const uint64_t follower = Report(1, 10);
  Pass(milliseconds(60'000));
  EXPECT_EQ(Answered(follower), "continue");
  const uint64_t leader = Report(0, 10);
  Answer(10, {leader}, Decision::kStop);
  EXPECT_EQ(Answered(leader), "continue");  // rank 1 went on from step 10
  const uint64_t leader_next = Report(0, 11);
  EXPECT_EQ(Answered(Report(1, 11)), "stop");
  Answer(11, {leader_next});
  EXPECT_EQ(Answered(leader_next), "stop");
}

TEST_F(ReportWindowTest, TimedOutStepIsContinueForEveryRankAndTheNextIsStop) {
  Make(2, Reduce::kRank0);
  const uint64_t leader = Report(0, 10);
  const uint64_t follower = Report(1, 10);
  Pass(milliseconds(2'000));
  EXPECT_EQ(Answered(leader), "continue, not durable");
  EXPECT_EQ(Answered(follower), "continue, not durable");
  Answer(10, {leader}, Decision::kStop);
  EXPECT_EQ(Answered(Report(1, 11)), "stop");
}

TEST_F(ReportWindowTest, FurtherMetricsOfAnAnsweredStepGetItsFirstAnswer) {
  Make(2, Reduce::kRank0);
  const uint64_t loss = Report(0, 10);
  Answer(10, {loss});
  EXPECT_EQ(Answered(Report(1, 10)), "continue");
  const uint64_t accuracy = Report(0, 10, {{.name = "accuracy"}});
  Answer(10, {accuracy}, Decision::kStop);
  EXPECT_EQ(Answered(accuracy), "continue");
  EXPECT_EQ(Answered(Report(1, 20)), "stop");
}

TEST_F(ReportWindowTest, StepThatRankZeroLeftOutHoldsNobody) {
  Make(2, Reduce::kRank0);
  const uint64_t follower = Report(1, 9);
  const uint64_t leader = Report(0, 10);
  EXPECT_EQ(Answered(follower), "continue");
  EXPECT_EQ(Answered(Report(1, 8)), "continue");
  Answer(10, {leader}, Decision::kStop);
  EXPECT_EQ(Answered(leader), "stop");
}

TEST_F(ReportWindowTest, ExitOfRankZeroEndsTheWaitOfTheOthers) {
  Make(2, Reduce::kRank0);
  const uint64_t follower = Report(1, 9);
  RankExits(0);
  EXPECT_EQ(Answered(follower), "continue");
}

TEST_F(ReportWindowTest, StopOrderAnswersWaitingAndLaterSteps) {
  Make(2, Reduce::kRank0);
  Answer(10, {Report(0, 10)});
  const uint64_t waiting = Report(1, 11);
  Decide(Decision::kStop);
  EXPECT_EQ(Answered(waiting), "stop");
  EXPECT_EQ(Answered(Report(1, 10)), "continue");  // step 10 has its answer
}

// ---- gangs with a reduction ----

TEST_F(ReportWindowTest, WithAReductionEveryRankIsForwarded) {
  Make(2, Reduce::kMean);
  const uint64_t a = Report(0, 10);
  const uint64_t b = Report(1, 10);
  EXPECT_THAT(sent_, ElementsAre(a, b));
  Answer(10, {a, b}, Decision::kStop);
  EXPECT_EQ(Answered(a), "stop");
  EXPECT_EQ(Answered(b), "stop");
}

TEST_F(ReportWindowTest, ReportWaitRunsFromTheLastRank) {
  Make(2, Reduce::kMean);
  const uint64_t a = Report(0, 10);
  Pass(milliseconds(30'000));
  EXPECT_EQ(Answered(a), "");
  const uint64_t b = Report(1, 10);
  Pass(milliseconds(1'999));
  EXPECT_EQ(Answered(a), "");
  Pass(milliseconds(1));
  EXPECT_EQ(Answered(a), "continue, not durable");
  EXPECT_EQ(Answered(b), "continue, not durable");
}

TEST_F(ReportWindowTest, EachMetricOfAStepIsCompleteByItself) {
  Make(3, Reduce::kMean);
  const uint64_t first = Report(2, 10, {{.name = "loss"}});
  Pass(milliseconds(60'000));
  EXPECT_EQ(Answered(first), "continue, not durable");  // rank 2 trains on
  const uint64_t a = Report(0, 10, {{.name = "loss"}});
  const uint64_t b = Report(1, 10, {{.name = "accuracy"}});
  Pass(milliseconds(2'000));
  EXPECT_EQ(Answered(a), "");
  EXPECT_EQ(Answered(b), "");
  const uint64_t c = Report(1, 10, {{.name = "loss"}});
  Pass(milliseconds(2'000));
  EXPECT_EQ(Answered(a), "continue, not durable");
  EXPECT_EQ(Answered(c), "continue, not durable");
  EXPECT_EQ(Answered(b), "");
}

TEST_F(ReportWindowTest, RanksThatAllWaitForEachOtherWaitForReportWaitOnly) {
  Make(2, Reduce::kMean);
  const uint64_t a = Report(0, 10, {{.name = "loss"}, {.name = "temperature0"}});
  const uint64_t b = Report(1, 10, {{.name = "loss"}, {.name = "temperature1"}});
  Pass(milliseconds(1'999));
  EXPECT_EQ(Answered(a), "");
  Pass(milliseconds(1));
  EXPECT_EQ(Answered(a), "continue, not durable");
  EXPECT_EQ(Answered(b), "continue, not durable");
  // The next step completes the values of this one, and is where a stop is heard.
  const uint64_t c = Report(0, 11);
  const uint64_t d = Report(1, 11);
  Answer(10, {a, b}, Decision::kStop);
  Answer(11, {c, d}, Decision::kStop);
  EXPECT_EQ(Answered(c), "stop");
  EXPECT_EQ(Answered(d), "stop");
  EXPECT_TRUE(window_->Delivered());
}

TEST_F(ReportWindowTest, MissingRankHoldsTheOthersForRankWait) {
  Make(2, Reduce::kMax);
  const uint64_t a = Report(0, 10);
  Pass(milliseconds(60'000));
  EXPECT_EQ(Answered(a), "continue, not durable");
}

TEST_F(ReportWindowTest, ExitOfARankCompletesTheValue) {
  Make(2, Reduce::kMin);
  const uint64_t a = Report(0, 10);
  RankExits(1);
  Pass(milliseconds(2'000));
  EXPECT_EQ(Answered(a), "continue, not durable");
}

TEST_F(ReportWindowTest, NothingHoldsARequestWhenNobodyIsLeft) {
  Make(2, Reduce::kMean);
  const uint64_t a = Report(0, 10);
  window_->DropRequests();
  EXPECT_FALSE(window_->Delivered());
  Answer(10, {a});
  EXPECT_EQ(Answered(a), "");
  EXPECT_TRUE(window_->Delivered());
}

TEST_F(ReportWindowTest, MemoryOfAnsweredStepsIsBounded) {
  limits_.answered_steps_max = 4;
  Make(2, Reduce::kRank0);
  for (Steps step = 1; step <= 10; ++step) Answer(step, {Report(0, step)});
  // Step 1 is forgotten, but rank 0 is past it, so it was not a stop.
  EXPECT_EQ(Answered(Report(1, 1)), "continue");
}

}  // namespace
}  // namespace rung::worker
