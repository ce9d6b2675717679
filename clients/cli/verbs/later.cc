#include <fmt/format.h>

#include "clients/cli/verbs/verbs.h"

/// Verbs that the interface names and this version lacks: refused, never ignored.
namespace rung::cli {
namespace {

Action Declare(OptionSet& set) {
  set.AllowAnything();
  const std::string name = set.verb();
  return [name](Session&) -> Outcome {
    return absl::UnimplementedError(fmt::format("`rung {}` comes with a later version", name));
  };
}

constexpr const char* kGroup = "Later versions";

}  // namespace

const Verb kDb{"db", kGroup, "Check or back up the database", "", Declare};
const Verb kDelete{"delete", kGroup, "Delete an experiment", "", Declare};
const Verb kDrain{"drain", kGroup, "Let a worker finish and take no more", "", Declare};
const Verb kExport{"export", kGroup, "Write an experiment as CSV or JSON", "", Declare};
const Verb kPause{"pause", kGroup, "Pause an experiment or a trial", "", Declare};
const Verb kResume{"resume", kGroup, "Resume an experiment or a trial", "", Declare};
const Verb kRetry{"retry", kGroup, "Run a trial that failed again", "", Declare};

}  // namespace rung::cli
