#include "clients/cli/json_view.h"
#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"

namespace rung::cli {
namespace {

struct Options {
  std::string trial;
  int64_t rank = 0;
  bool follow = false;
  bool json = false;
};

Outcome Logs(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto trial = SelectTrial(options.trial, **client);
  if (!trial.ok()) return trial.status();
  pb::StreamLogsRequest request;
  request.set_experiment_id(trial->experiment_id);
  request.set_trial_number(*trial->trial_number);
  if (trial->attempt.has_value()) request.set_attempt(*trial->attempt);
  request.set_rank(static_cast<int32_t>(options.rank));
  request.set_follow(options.follow);
  std::ostream& out = session.console().out;
  const absl::Status streamed =
      (*client)->StreamLogs(request, [&](const pb::StreamLogsResponse& piece) {
        if (options.json) {
          out << Dumped(Json{{"worker", piece.worker()}, {"data", piece.data()}}) << "\n";
        } else {
          out << piece.data();
        }
        out.flush();
        return !out.fail();
      });
  if (!streamed.ok()) return streamed;
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("TRIAL", options->trial, "12.3, or 12.3.0 for an older attempt");
  set.Flag("-f,--follow", options->follow, "Go on as the log grows, until the attempt ends");
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
