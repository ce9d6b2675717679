#pragma once

#include <optional>

#include "clients/cli/session.h"
#include "clients/cli/verb.h"

namespace rung::cli {

/// What the arguments ask for.
struct Parsing {
  GlobalOptions options;
  Action action;                   ///< of the verb that was named
  std::optional<int> exit_status;  ///< set when there is nothing to do: --help, or wrong usage
};

/// Help and version go to `console.out`, what is wrong to `console.err`.
Parsing ParseCommandLine(int argc, const char* const* argv, Console& console);

}  // namespace rung::cli
