#include <cstdio>
#include <string>

#include "examples/bert_finetune/finetuning.h"
#include "examples/bert_finetune/settings.h"
#include "examples/bert_finetune/stop_signal.h"
#include "trial_runner/report/trial.h"
#include "trial_runner/training/trial_main.h"

namespace {

int Fail(const absl::Status& status, int exit_status) {
  std::fprintf(stderr, "bert_finetune: %s\n", std::string(status.message()).c_str());
  return exit_status;
}

int Main(int argc, char** argv) {
  absl::StatusOr<std::optional<bert::Settings>> parsed = bert::ParseCommandLine(argc, argv);
  if (!parsed.ok()) return Fail(parsed.status(), 2);
  if (!parsed->has_value()) return 0;
  bert::Settings& settings = **parsed;
  bert::StopSignal::Install();
  if (settings.build_cache) {
    if (absl::Status checked = bert::Check(settings); !checked.ok()) return Fail(checked, 2);
    const absl::Status built = bert::BuildCache(settings);
    if (absl::IsCancelled(built)) return bert::StopSignal::ExitStatus();
    return built.ok() ? 0 : Fail(built, 1);
  }
  rung::report::Trial trial = rung::report::Trial::FromEnvironment();
  if (absl::Status applied = bert::ApplyContract(trial, settings); !applied.ok()) {
    return Fail(applied, 2);
  }
  const absl::Status done = bert::Finetune(settings, trial);
  // After a decision rung does not look at the status; whoever else stops it has not completed it.
  if (absl::IsCancelled(done)) return bert::StopSignal::ExitStatus();
  return done.ok() ? 0 : Fail(done, 1);
}

}  // namespace

int main(int argc, char** argv) {
  return rung::training::RunTrial([&] { return Main(argc, argv); });
}
