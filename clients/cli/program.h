#pragma once

#include "clients/cli/console.h"

/// The whole command, from its arguments to its exit status.
namespace rung::cli {

/// Parses the command line, runs one verb, prints why it failed. Returns the exit status: 0
/// success, 1 the request failed, 2 wrong usage.
int RunProgram(int argc, const char* const* argv, Console& console);

}  // namespace rung::cli
