#pragma once

#include <string>

#include "clients/cli/client.h"

/// Why an experiment does not do what its author wants, where the reason is a slip of theirs that
/// the service cannot know for one. Asks the service; an answer that does not come says nothing.
namespace rung::cli {

/// "trial 12.0 reported accuracy, loss" where no trial has a finite value of the objective; empty
/// where one has, or where no trial is known to have ended or reported.
std::string WhyNoBest(const pb::Experiment& experiment, Client& client);

/// Adds to what queued trials wait for why the last worker refused them: "trial.working_dir: there
/// is no folder '/nosuch' here". Remembers answers: asks once a trial and reason.
class RefusalNotes {
 public:
  void AddTo(pb::WatchExperimentResponse& update, Client& client);

 private:
  std::string trial_;   ///< "12.3", the first that waits
  std::string reason_;  ///< as the service gave it
  std::string note_;    ///< empty: no worker refused it
};

}  // namespace rung::cli
