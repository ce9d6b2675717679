#include "clients/cli/program.h"

#include "clients/cli/command_line.h"

namespace rung::cli {

int RunProgram(int argc, const char* const* argv, Console& console) {
  const Parsing parsing = ParseCommandLine(argc, argv, console);
  if (parsing.exit_status.has_value()) return *parsing.exit_status;
  Session session(console, parsing.options);
  const Outcome outcome = parsing.action(session);
  console.out.flush();
  if (!outcome.ok()) {
    console.err << "rung: " << outcome.status().message() << std::endl;
    return kRequestFailed;
  }
  if (console.out.fail()) {
    console.err << "rung: could not write to standard output" << std::endl;
    return kRequestFailed;
  }
  return *outcome;
}

}  // namespace rung::cli
