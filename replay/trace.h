#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"
#include "core/trial.h"
#include "search/trace_replay.h"

/// A trace: what happened to an experiment's trials, and under which rule (INTERFACES.md §6).
namespace rung {

struct TraceEvent {
  enum class Kind : uint8_t { kReport, kFree, kExit };
  Kind kind = Kind::kFree;
  TraceExit exit = TraceExit::kCompleted;  ///< of an exit
  TrialNumber trial;                       ///< of a report or an exit
  Steps step = 0;                          ///< of a report
  double value = 0;                        ///< of a report, with the user's sign
  size_t index = 0;                        ///< of the event in its file
};

/// What another system decided on a report.
struct RecordedAnswer {
  Decision decision = Decision::kContinue;
  std::optional<double> cutoff;  ///< with the user's sign
};

/// A trace of another system, with what it decided on each report.
struct Peer {
  std::string name;  ///< "ray" or "optuna"
  std::string version;
  Steps max_t = 0;
  bool ends_at_max_t = true;  ///< false: it lets trials train on beyond max_t
  bool has_cutoffs = false;
  std::vector<RecordedAnswer> answers;  ///< one an event: all are reports
};

struct Trace {
  TraceSetup setup;
  std::vector<TraceEvent> events;
  std::optional<Peer> peer;
};

}  // namespace rung
