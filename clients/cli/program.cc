#include "clients/cli/program.h"

#include <string>
#include <string_view>

#include "clients/cli/command_line.h"
#include "clients/cli/quantity.h"

namespace rung::cli {
namespace {

/// A message may have lines; what else it quotes must not drive the terminal.
std::string PrintableLines(std::string_view text) {
  std::string lines;
  for (size_t start = 0;;) {
    const size_t end = text.find('\n', start);
    lines += Printable(text.substr(start, end - start));
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    start = end + 1;
  }
}

/// What the service does not have: its message, and where to see what it has.
std::string WithWayOut(const absl::Status& status) {
  const std::string message(status.message());
  const bool says_it = message.find('`') != std::string::npos;
  if (!absl::IsNotFound(status) || says_it) return message;
  return message + ": `rung list` shows all experiments, `rung trials EXPERIMENT` their trials";
}

}  // namespace

int RunProgram(int argc, const char* const* argv, Console& console) {
  const Parsing parsing = ParseCommandLine(argc, argv, console);
  if (parsing.exit_status.has_value()) return *parsing.exit_status;
  Session session(console, parsing.options);
  const Outcome outcome = parsing.action(session);
  console.out.flush();
  if (!outcome.ok()) {
    console.err << "rung: " << PrintableLines(WithWayOut(outcome.status())) << std::endl;
    return kRequestFailed;
  }
  if (console.out.fail()) {
    console.err << "rung: could not write to standard output" << std::endl;
    return kRequestFailed;
  }
  return *outcome;
}

}  // namespace rung::cli
