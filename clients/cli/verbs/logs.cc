#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "clients/cli/decision_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

constexpr std::chrono::milliseconds kLookPause{300};

struct Options {
  std::string trial;
  int64_t rank = 0;
  bool follow = false;
  bool json = false;
};

/// What a follower whose log is not there waits for; empty: for nothing, it will not come.
/// Errors: those of the service.
absl::StatusOr<std::string> AwaitedStart(const Selection& wanted, Client& client) {
  const auto trial = client.GetTrial(wanted.experiment_id, *wanted.trial_number);
  if (absl::IsNotFound(trial.status())) {  // trials are made one ahead: it may come yet
    const auto experiment = client.GetExperiment(wanted.experiment_id);
    if (!experiment.ok()) return experiment.status();
    const bool planned =
        !experiment->has_planned_trials() || *wanted.trial_number < experiment->planned_trials();
    if (!planned || IsFinal(experiment->state())) return "";
    return fmt::format("trial {} is not created yet",
                       TrialText(wanted.experiment_id, *wanted.trial_number));
  }
  if (!trial.ok()) return trial.status();
  const pb::Attempt* attempt = nullptr;  // the newest, or the one that is asked for
  for (const pb::Attempt& candidate : trial->attempts()) {
    if (!wanted.attempt || candidate.attempt() == *wanted.attempt) attempt = &candidate;
  }
  const bool awaited = attempt == nullptr ? !IsFinal(trial->state())
                                          : attempt->state() == pb::ATTEMPT_STATE_ASSIGNED ||
                                                attempt->state() == pb::ATTEMPT_STATE_STARTING;
  return awaited ? StateSentence(*trial) : "";
}

bool MayBeTooEarly(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsNotFound(status) ||
         absl::IsUnavailable(status);
}

Outcome Logs(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto trial = SelectTrialOrAttempt(options.trial, **client);
  if (!trial.ok()) return trial.status();
  pb::StreamLogsRequest request;
  request.set_experiment_id(trial->experiment_id);
  request.set_trial_number(*trial->trial_number);
  if (trial->attempt.has_value()) request.set_attempt(*trial->attempt);
  request.set_rank(static_cast<int32_t>(options.rank));
  request.set_follow(options.follow);
  Console& console = session.console();
  bool begun = false;
  const auto print = [&](const pb::StreamLogsResponse& piece) {
    begun = true;
    if (options.json) {
      console.out << Dumped(Json{{"worker", piece.worker()}, {"data", piece.data()}}) << "\n";
    } else {
      console.out << piece.data();
    }
    console.out.flush();
    return !console.out.fail();
  };
  bool told = false;
  bool last_try = false;  // it may have started since the try before
  while (true) {
    const absl::Status streamed = (*client)->StreamLogs(request, print);
    if (streamed.ok()) return kSuccess;
    if (!options.follow || begun || !MayBeTooEarly(streamed)) return streamed;
    const auto awaited = AwaitedStart(*trial, **client);
    if (!awaited.ok()) return streamed;
    if (awaited->empty()) {
      if (std::exchange(last_try, true)) return streamed;
      continue;
    }
    last_try = false;
    if (!std::exchange(told, true)) {
      console.err << "rung: " << *awaited << "; waiting until it starts (Ctrl-C ends the wait)"
                  << std::endl;
    }
    std::this_thread::sleep_for(kLookPause);
  }
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("TRIAL", options->trial, "12.3, or 12.3.0 for an older attempt");
  set.Flag("-f,--follow", options->follow,
           "Wait for the start, and go on as the log grows until the attempt ends");
  set.Integer({.flag = "--rank", .type_name = "N", .description = "Which process of the trial"},
              {.min = 0, .max = 1'000'000}, options->rank);
  set.Flag("--json", options->json, "One JSON document a line for each piece");
  return [options](Session& session) { return Logs(*options, session); };
}

}  // namespace

const Verb kLogs{"logs", "Trials", "Print what a process of a trial wrote",
                 "  rung logs 12.3\n"
                 "  rung logs 12.3 -f --rank 1",
                 Declare};

}  // namespace rung::cli
