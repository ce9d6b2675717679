#include <fmt/format.h>

#include <cstdlib>

#include "clients/cli/document_file.h"
#include "clients/cli/json_view.h"
#include "clients/cli/plan_text.h"
#include "clients/cli/quantity.h"
#include "clients/cli/start_check.h"
#include "clients/cli/submission.h"
#include "clients/cli/verbs/verbs.h"

namespace rung::cli {
namespace {

struct Options {
  std::string file;
  int64_t samples = 5;
  bool json = false;
};

Json ValidationJson(const pb::ValidateResponse& validation) {
  Json samples = Json::array();
  for (const std::string& sample : validation.sample_params_json()) {
    samples.push_back(Parsed(sample));
  }
  Json warnings = Json::array();
  for (const std::string& warning : validation.warnings()) warnings.push_back(warning);
  return Json{{"planned_trials",
               validation.has_planned_trials() ? Json(validation.planned_trials()) : Json(nullptr)},
              {"plan", Parsed(validation.plan_json())},
              {"warnings", warnings},
              {"samples", samples}};
}

Outcome Validate(const Options& options, Session& session) {
  const auto document = ReadDocument(options.file);
  if (!document.ok()) return document.status();
  const auto client = session.client();
  if (!client.ok()) return client.status();
  pb::ValidateRequest request;
  request.set_document(document->text);
  request.set_working_dir(document->working_dir);
  request.set_samples(static_cast<int32_t>(options.samples));
  auto validation = (*client)->Validate(request);
  if (!validation.ok()) return validation.status();
  if ((*client)->address().target.starts_with("unix:")) {  // the service is on this machine
    const char* path = std::getenv("PATH");
    const std::string why = WhyNotStartable(*document, path == nullptr ? "" : path);
    if (!why.empty()) validation->add_warnings("a worker on this machine would refuse it: " + why);
  }
  Console& console = session.console();
  if (options.json) {
    console.out << Dumped(ValidationJson(*validation)) << "\n";
    return kSuccess;
  }
  console.out << "valid";
  if (validation->has_planned_trials()) {
    console.out << ": " << CountText(validation->planned_trials(), "trial");
  }
  console.out << "\n" << PlanText(Parsed(validation->plan_json()), console.out_terminal);
  PrintWarnings(*validation, console);
  if (validation->sample_params_json_size() > 0) console.out << "\nfirst configurations:\n";
  for (const std::string& sample : validation->sample_params_json()) {
    console.out << "  " << Printable(sample) << "\n";
  }
  return kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Argument("FILE", options->file, "Experiment document (JSON); - is standard input");
  set.Integer({.flag = "--samples",
               .type_name = "N",
               .description = "How many of its configurations to show"},
              {.min = 0, .max = 100}, options->samples);
  set.Flag("--json", options->json, "One JSON document");
  return [options](Session& session) { return Validate(*options, session); };
}

}  // namespace

const Verb kValidate{
    "validate", "Experiments",
    "Check FILE as `rung submit` would, and show its plan; nothing is created. Warns of a\n"
    "folder or a program that is not on this machine.",
    "  rung validate experiment.json\n"
    "  rung validate experiment.json --samples 20 --json",
    Declare};

}  // namespace rung::cli
