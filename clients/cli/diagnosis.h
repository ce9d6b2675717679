#pragma once

#include <string>

#include "clients/cli/client.h"

/// Why an experiment does not do what its author wants, where the reason is a slip of theirs that
/// the service cannot know for one. Asks the service; an answer that does not come says nothing.
namespace rung::cli {

/// "trial 12.0 reported accuracy, loss" where no trial has a finite value of the objective; empty
/// where one has, or where no trial is known to have ended or reported.
std::string WhyNoBest(const pb::Experiment& experiment, Client& client);

/// "worker gpu-1 refused it: trial.working_dir: there is no folder '/nosuch' here" where every
/// connected worker refused trials of the experiment and none of it runs: it goes on only when
/// another worker comes. Empty where that is not so.
std::string WhyAllWorkersRefuse(const pb::WatchExperimentResponse& update, Client& client);

}  // namespace rung::cli
