#include <unistd.h>

#include <iostream>

#include "clients/cli/program.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  rung::cli::Console console{.out = std::cout,
                             .err = std::cerr,
                             .out_terminal = rung::cli::InspectTerminal(STDOUT_FILENO),
                             .err_terminal = rung::cli::InspectTerminal(STDERR_FILENO)};
  return rung::cli::RunProgram(argc, argv, console);
}
