#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <span>

#include "clients/cli/option_set.h"
#include "clients/cli/session.h"

/// A verb of the command: it declares its options, then acts. One file a verb in verbs/, one line
/// a verb in registry.cc.
namespace rung::cli {

/// Exit statuses; `rung report` has one more of its own.
constexpr int kSuccess = 0;
constexpr int kRequestFailed = 1;
constexpr int kWrongUsage = 2;

/// The exit status, or why the request failed: then the message goes to stderr, the status is 1.
using Outcome = absl::StatusOr<int>;
using Action = std::function<Outcome(Session&)>;

struct Verb {
  const char* name;
  const char* group;        ///< heading in `rung --help`
  const char* description;  ///< one line; more lines follow in the verb's own --help
  const char* examples;     ///< the end of `rung VERB --help`
  /// Adds the options to `set`; the action reads them after the command line was parsed.
  Action (*declare)(OptionSet& set);
};

/// All verbs in the order of `rung --help`.
std::span<const Verb> Verbs();

}  // namespace rung::cli
