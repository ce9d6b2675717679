#include <fmt/format.h>

#include "clients/cli/decision_text.h"
#include "clients/cli/json_view.h"
#include "clients/cli/quantity.h"
#include "clients/cli/selector.h"
#include "clients/cli/verbs/verbs.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

struct Options {
  std::string trial;
  bool json = false;
};

Outcome Why(const Options& options, Session& session) {
  const auto client = session.client();
  if (!client.ok()) return client.status();
  const auto selection = SelectTrial(options.trial, **client);
  if (!selection.ok()) return selection.status();
  const auto experiment = (*client)->GetExperiment(selection->experiment_id);
  if (!experiment.ok()) return experiment.status();
  const auto trial = (*client)->GetTrial(selection->experiment_id, *selection->trial_number);
  if (!trial.ok()) return trial.status();
  pb::ListDecisionsRequest request;
  request.set_experiment_id(selection->experiment_id);
  request.set_trial_number(*selection->trial_number);
  const auto decisions = (*client)->ListDecisions(request);
  if (!decisions.ok()) return decisions.status();

  std::ostream& out = session.console().out;
  if (options.json) {
    Json rows = Json::array();
    for (const pb::DecisionRow& row : *decisions) {
      Json json = ToJson(row);
      json["sentence"] = DecisionText(row, experiment->goal());
      rows.push_back(json);
    }
    out << Dumped(Json{
               {"trial", ToJson(*trial)}, {"sentence", StateSentence(*trial)}, {"decisions", rows}})
        << "\n";
    return kSuccess;
  }
  out << StateSentence(*trial) << "\n";
  if (trial->state() == pb::TRIAL_STATE_COMPLETED && !trial->has_best_value()) {
    out << Printable(
               fmt::format("it has no place in the ranking: it reported no finite value of {}",
                           experiment->metric()))
        << "\n";
  }
  for (const pb::DecisionRow& row : *decisions) {
    out << TimeText(row.time_us()) << "  " << DecisionText(row, experiment->goal()) << "\n";
  }
  // A failed trial is explained by how its attempts ended.
  const pb::Attempt* failed = nullptr;
  for (const pb::Attempt& attempt : trial->attempts()) {
    if (attempt.message().empty()) continue;
    out << TimeText(attempt.ended_us()) << "  attempt " << attempt.attempt() << ": "
        << Printable(attempt.message()) << "\n";
    if (attempt.exit_cause() == pb::EXIT_CAUSE_FAILED) failed = &attempt;
  }
  if (failed != nullptr) {
    out << fmt::format(
        "`rung show {0}` has its last words, `rung logs {0}.{1}` all that it wrote\n",
        TrialText(*trial), failed->attempt());
  }
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("TRIAL", options->trial, "12.3");
  set.Flag("--json", options->json, "One JSON document");
  return [options](Session& session) { return Why(*options, session); };
}

}  // namespace

const Verb kWhy{"why", "Trials",
                "Say why a trial waits, went on, was stopped or failed, a sentence a decision",
                "  rung why 12.3", Declare};

}  // namespace rung::cli
