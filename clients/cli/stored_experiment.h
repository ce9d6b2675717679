#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <vector>

#include "clients/cli/client.h"
#include "replay/experiment_replay.h"

/// What the service has stored of one experiment that has ended, for its replay.
namespace rung::cli {

struct StoredExperiment {
  pb::Experiment experiment;
  std::map<int32_t, pb::Trial> trials;  ///< by number
  std::vector<pb::Metric> objective;    ///< superseded ones too
  std::vector<pb::DecisionRow> decisions;

  StoredRecord Record() const;
  std::vector<RecordedCurve> Curves() const;
};

/// Errors: those of the calls; FAILED_PRECONDITION when the experiment goes on, since its record
/// would change between the calls.
absl::StatusOr<StoredExperiment> LoadStoredExperiment(int64_t experiment_id, Client& client);

}  // namespace rung::cli
