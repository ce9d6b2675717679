#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/metric.h"
#include "core/trial.h"

/// The lines of RUNG_SOCKET (INTERFACES.md §3): one JSON object each way.
namespace rung::worker {

struct ReportLine {
  Steps step = 0;
  std::vector<MetricValue> metrics;
};
struct CheckpointLine {
  Steps step = 0;
  std::string path;  ///< as the trial wrote it
};
/// What was found, what is allowed and where; nothing changes by such a line.
struct BadLine {
  std::string error;
};
using TrialLine = std::variant<ReportLine, CheckpointLine, BadLine>;

/// Reads `{"report": {"step": 10, "metrics": {"loss": 0.5}, "count": 32}}` or
/// `{"checkpoint": {"step": 10, "path": "step-10"}}`. Values are finite numbers or the strings
/// "nan", "inf" and "-inf".
TrialLine ParseTrialLine(std::string_view line);

// Answers, without the end of line.
std::string DecisionLine(Decision decision, bool durable);
std::string StoredLine();
std::string ErrorLine(std::string_view error);

}  // namespace rung::worker
